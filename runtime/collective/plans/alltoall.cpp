// Every block goes straight to its rank, which copies it once. All at once, and rank k begins with k + 1, so that nobody is met
// by all.
//
// In place the blocks of two ranks change places, through scratch memory of two segments. Ranks i and j meet in step (i + j)
// modulo p, so whoever is furthest behind finds its partner there. A batch of steps is one round.

#include "runtime/collective/plans/parts.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice::plans {
namespace {

Schedule direct(const Shape& shape) {
  Schedule schedule;
  Round& round = schedule.rounds.emplace_back();
  const std::size_t self = shape.own();
  for (std::size_t distance = 1; distance < shape.ranks; ++distance) {
    const std::size_t source = (self + shape.ranks - distance) % shape.ranks;
    const std::size_t target = (self + distance) % shape.ranks;
    receive(round, source, result(shape.bytes_from(source), 0, source));
    send(round, target, operand(shape.bytes_to(target), 0, target));
  }
  copy(round, operand(shape.bytes_to(self), 0, self), result(shape.bytes_from(self), 0, self));
  return finished(std::move(schedule));
}

/// Pieces of this rank's blocks, in the order of steps.
std::vector<Region> pieces_in_place(const Shape& shape) {
  std::vector<Region> all;
  for (std::size_t step = 0; step < shape.ranks; ++step) {
    const std::size_t partner = (step + shape.ranks - shape.own()) % shape.ranks;
    if (partner == shape.own()) continue;
    const Part block{0, shape.bytes_from(partner)};
    const std::size_t pieces = pieces_of(block.bytes, shape.segment_bytes);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const Part part = block.cut(pieces, piece);
      if (part.bytes != 0) all.push_back(result(part.bytes, part.begin, partner));
    }
  }
  return all;
}

/// One batch is on its way while the one before goes to its place.
class InPlace {
 public:
  explicit InPlace(const Shape& shape) : pieces_(pieces_in_place(shape)), batch_bytes_(largest_batch(shape.segment_bytes)) {}

  Schedule schedule() {
    Schedule schedule;
    Round* round = &schedule.rounds.emplace_back();
    std::size_t used = 0;
    for (const Region& piece : pieces_) {
      if (used != 0 && used + padded(piece.bytes) > batch_bytes_) {
        round = &schedule.rounds.emplace_back();
        round->local = std::move(arrived_);
        arrived_.clear();
        used = 0;
      }
      const std::size_t half = (schedule.rounds.size() - 1) % 2;
      const Region there = scratch(piece.bytes, half * batch_bytes_ + used);
      receive(*round, piece.block, there);
      send(*round, piece.block, piece);
      arrived_.push_back({{there}, piece});
      used += padded(piece.bytes);
    }
    schedule.rounds.emplace_back().local = std::move(arrived_);
    schedule.scratch_bytes = std::min<std::size_t>(schedule.rounds.size() - 1, 2) * batch_bytes_;
    return finished(std::move(schedule));
  }

 private:
  [[nodiscard]] std::size_t largest_batch(std::size_t segment_bytes) const {
    std::size_t largest = 0;
    std::size_t all = 0;
    for (const Region& piece : pieces_) {
      largest = std::max(largest, padded(piece.bytes));
      all += padded(piece.bytes);
    }
    return std::max(largest, std::min(all, segment_bytes));
  }

  std::vector<Region> pieces_;
  std::size_t batch_bytes_;
  std::vector<Round::Local> arrived_;
};

}  // namespace

Schedule alltoall(const Shape& shape) { return shape.in_place ? InPlace(shape).schedule() : direct(shape); }

}  // namespace sluice::plans
