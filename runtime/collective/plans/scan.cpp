// From left to right: the prefix of rank i is that of rank i - 1 joined with its own operand, on every way alike.
//
// Short: each rank gets the operands of all before it, in one step. Long: each rank hands its prefix to the next one, in
// segments.

#include "runtime/collective/plans/parts.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice::plans {
namespace {

enum class Extent : std::uint8_t { inclusive, exclusive };

class Scan {
 public:
  Scan(const Shape& shape, Extent extent) : shape_(shape), extent_(extent) {}

  Schedule schedule() {
    if (shape_.bytes == 0) return {};
    if (shape_.own() == 0 && extent_ == Extent::inclusive && !shape_.in_place) {
      copy(next(), operand(shape_.bytes), result(shape_.bytes));
    }
    if (shape_.ranks > 1) {
      // What the last one reads is the time of this way.
      if ((shape_.ranks - 1) * shape_.bytes <= shape_.segment_bytes) {
        at_once();
      } else {
        along_chain();
      }
    }
    return finished(std::move(schedule_));
  }

 private:
  Round& next() { return schedule_.rounds.emplace_back(); }
  [[nodiscard]] bool is_last() const { return shape_.own() + 1 == shape_.ranks; }
  [[nodiscard]] bool is_exclusive() const { return extent_ == Extent::exclusive; }

  [[nodiscard]] Region theirs(std::size_t rank) const { return scratch(shape_.bytes, rank * padded(shape_.bytes)); }

  void at_once() {
    Round& round = next();
    for (std::size_t lower = 0; lower < shape_.own(); ++lower) receive(round, lower, theirs(lower));
    for (std::size_t upper = shape_.own() + 1; upper < shape_.ranks; ++upper) send(round, upper, operand(shape_.bytes));
    schedule_.scratch_bytes = shape_.own() * padded(shape_.bytes);
    if (shape_.own() == 0) return;
    Round& fold = next();
    for (std::size_t lower = 1; lower < shape_.own(); ++lower) combine(fold, theirs(0), theirs(lower), theirs(0));
    if (is_exclusive()) {
      copy(fold, theirs(0), result(shape_.bytes));
    } else {
      combine(fold, theirs(0), operand(shape_.bytes), result(shape_.bytes));
    }
  }

  [[nodiscard]] Part segment(std::size_t i) const { return Part{0, shape_.bytes}.cut(segments_, i, shape_.element_bytes); }
  [[nodiscard]] Region operand_of(std::size_t i) const { return operand(segment(i).bytes, segment(i).begin); }
  [[nodiscard]] Region result_of(std::size_t i) const { return result(segment(i).bytes, segment(i).begin); }
  /// One of four slots: two for what comes, two for what goes.
  [[nodiscard]] Region slot_of(std::size_t i, std::size_t pair) const {
    return scratch(segment(i).bytes, (2 * pair + i % 2) * padded(segment(0).bytes));
  }
  [[nodiscard]] Region coming(std::size_t i) const { return receives_into_result() ? result_of(i) : slot_of(i, 0); }
  [[nodiscard]] Region going(std::size_t i) const {
    if (shape_.own() == 0) return operand_of(i);
    return is_exclusive() ? slot_of(i, 1) : result_of(i);
  }
  /// In place the operand lies there, which the last rank of an exclusive scan does not need.
  [[nodiscard]] bool receives_into_result() const { return is_exclusive() && (!shape_.in_place || is_last()); }

  void along_chain() {
    segments_ = segments_of(shape_.bytes, shape_.segment_bytes, shape_.ranks - 1);
    if (shape_.own() == 0 || (is_last() && is_exclusive())) return end_of_chain();
    schedule_.rounds.resize(segments_ + 2);
    for (std::size_t i = 0; i < segments_; ++i) {
      receive(schedule_.rounds[i], shape_.own() - 1, coming(i));
      join(schedule_.rounds[i + 1], i);
      if (!is_last()) send(schedule_.rounds[i + 2], shape_.own() + 1, going(i));
    }
    schedule_.scratch_bytes = 4 * padded(segment(0).bytes);
  }

  void join(Round& round, std::size_t i) const {
    combine(round, coming(i), operand_of(i), going(i));
    if (is_exclusive() && !receives_into_result()) copy(round, coming(i), result_of(i));
  }

  /// It only sends, or only receives: everything at once.
  void end_of_chain() {
    Round& round = next();
    for (std::size_t i = 0; i < segments_; ++i) {
      if (shape_.own() == 0) {
        send(round, 1, going(i));
      } else {
        receive(round, shape_.own() - 1, coming(i));
      }
    }
  }

  const Shape& shape_;
  Extent extent_;
  std::size_t segments_ = 1;
  Schedule schedule_;
};

}  // namespace

Schedule scan(const Shape& shape) { return Scan(shape, Extent::inclusive).schedule(); }
Schedule exscan(const Shape& shape) { return Scan(shape, Extent::exclusive).schedule(); }

}  // namespace sluice::plans
