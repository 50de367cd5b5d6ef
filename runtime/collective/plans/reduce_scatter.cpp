// Every rank gets its own strip of all others and folds them. One segment is on its way while the one before is folded.
//
// In place the result's bytes are those of the first strips. It is put there when all have been sent.

#include <numeric>

#include "runtime/collective/plans/parts.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice::plans {
namespace {

class ReduceScatter {
 public:
  explicit ReduceScatter(const Shape& shape) : shape_(shape) {
    std::size_t begin = 0;
    for (std::size_t rank = 0; rank < shape.ranks; ++rank) {
      strips_.push_back({begin, shape.bytes_to(rank)});
      begin += shape.bytes_to(rank);
    }
    slot_bytes_ = padded(segment(shape.own(), 0).bytes);
    halves_ = std::min<std::size_t>(segments(shape.own()), 2);
    folded_at_ = halves_ * (shape.ranks - 1) * slot_bytes_;
  }

  Schedule schedule() {
    std::size_t most = 0;
    for (std::size_t rank = 0; rank < shape_.ranks; ++rank) most = std::max(most, segments(rank));
    schedule_.rounds.resize(most + 2);
    for (std::size_t i = 0; i < most; ++i) {
      exchange(schedule_.rounds[i], i);
      if (i < segments(shape_.own())) fold(schedule_.rounds[i + 1], i);
    }
    const std::size_t own = own_strip().bytes;
    if (goes_aside()) copy(schedule_.rounds.back(), scratch(own, folded_at_), result(own));
    schedule_.scratch_bytes = folded_at_ + (goes_aside() ? own : 0);
    return finished(std::move(schedule_));
  }

 private:
  [[nodiscard]] const Part& own_strip() const { return strips_[shape_.own()]; }
  [[nodiscard]] bool goes_aside() const { return shape_.in_place && shape_.ranks > 1; }
  [[nodiscard]] std::size_t segments(std::size_t rank) const { return segments_of(strips_[rank].bytes, shape_.segment_bytes, 1); }
  [[nodiscard]] Part segment(std::size_t rank, std::size_t i) const {
    return strips_[rank].cut(segments(rank), i, shape_.element_bytes);
  }
  [[nodiscard]] Region slot(std::size_t peer, std::size_t i) const {
    const std::size_t index = peer < shape_.own() ? peer : peer - 1;
    return scratch(segment(shape_.own(), i).bytes, (i % halves_ * (shape_.ranks - 1) + index) * slot_bytes_);
  }

  void exchange(Round& round, std::size_t i) const {
    for (std::size_t distance = 1; distance < shape_.ranks; ++distance) {
      const std::size_t source = (shape_.own() + shape_.ranks - distance) % shape_.ranks;
      const std::size_t target = (shape_.own() + distance) % shape_.ranks;
      if (i < segments(shape_.own())) receive(round, source, slot(source, i));
      if (i >= segments(target)) continue;
      const Part part = segment(target, i);
      send(round, target, operand(part.bytes, part.begin));
    }
  }

  void fold(Round& round, std::size_t i) const {
    const Part part = segment(shape_.own(), i);
    const Region source = operand(part.bytes, part.begin);
    const std::size_t done = part.begin - own_strip().begin;
    const Region target = goes_aside() ? scratch(part.bytes, folded_at_ + done) : result(part.bytes, done);
    if (part.bytes == 0 || (shape_.ranks == 1 && shape_.in_place)) return;
    Round::Local& all = round.local.emplace_back();
    for (std::size_t rank = 0; rank < shape_.ranks; ++rank) all.sources.push_back(rank == shape_.own() ? source : slot(rank, i));
    all.target = target;
  }

  const Shape& shape_;
  std::vector<Part> strips_;
  std::size_t slot_bytes_;
  std::size_t halves_;
  std::size_t folded_at_;  // in scratch memory
  Schedule schedule_;
};

}  // namespace

Schedule reduce_scatter(const Shape& shape) { return ReduceScatter(shape).schedule(); }

}  // namespace sluice::plans
