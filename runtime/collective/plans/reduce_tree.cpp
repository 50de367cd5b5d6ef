// Recursive doubling, pairs first (canonical_order.hpp): what a rank has after each step is a subtree of the canonical order.
//
// Allreduce: of a pair the upper rank hands its operand to the lower one, which stands for both, and gets the result at the end.
// Reduce: at each node of the tree one side hands its result to the other, which is the root's side, or else the lower one.

#include "runtime/collective/canonical_order.hpp"
#include "runtime/collective/plans/parts.hpp"
#include "runtime/collective/plans/reduce.hpp"

namespace sluice::plans {
namespace {

/// Where a rank stands in the tree.
class Place {
 public:
  explicit Place(const Shape& shape) : order_(shape.ranks), rank_(shape.own()) {
    const std::size_t in_pairs = 2 * (shape.ranks - order_.leaves());
    leaf_ = rank_ < in_pairs ? rank_ / 2 : rank_ - in_pairs / 2;
  }

  [[nodiscard]] const CanonicalOrder& order() const { return order_; }
  [[nodiscard]] std::size_t leaf() const { return leaf_; }
  [[nodiscard]] bool is_in_pair() const { return order_.is_pair(leaf_); }
  [[nodiscard]] bool is_upper_of_pair() const { return rank_ != order_.first_rank(leaf_); }

 private:
  CanonicalOrder order_;
  std::size_t rank_;
  std::size_t leaf_ = 0;
};

class Doubling {
 public:
  explicit Doubling(const Shape& shape) : shape_(shape), place_(shape), value_(operand(shape.bytes)) {}

  Schedule schedule() {
    if (place_.is_upper_of_pair()) {
      send(next(), shape_.own() - 1, value_);
      receive(next(), shape_.own() - 1, result(shape_.bytes));
      return std::move(schedule_);
    }
    schedule_.scratch_bytes = shape_.bytes;
    if (place_.is_in_pair()) {
      receive(next(), shape_.own() + 1, theirs());
      join(value_, theirs());
    }
    for (std::size_t distance = 1; distance < place_.order().leaves(); distance *= 2) exchange(place_.leaf() ^ distance);
    if (place_.is_in_pair()) send(next(), shape_.own() + 1, value_);
    return std::move(schedule_);
  }

 private:
  [[nodiscard]] Region theirs() const { return scratch(shape_.bytes, 0); }
  Round& next() { return schedule_.rounds.emplace_back(); }

  void exchange(std::size_t leaf) {
    const std::size_t partner = place_.order().first_rank(leaf);
    Round& round = next();
    receive(round, partner, theirs());
    send(round, partner, value_);
    if (leaf < place_.leaf()) {
      join(theirs(), value_);
    } else {
      join(value_, theirs());
    }
  }

  void join(Region lower, Region upper) {
    value_ = result(shape_.bytes);
    combine(next(), lower, upper, value_);
  }

  const Shape& shape_;
  Place place_;
  Region value_;
  Schedule schedule_;
};

/// Of a reduction to the root. All that a rank gets is on its way at the same time: it is short.
class Climb {
 public:
  explicit Climb(const Shape& shape)
      : shape_(shape), place_(shape), root_(static_cast<std::size_t>(shape.root)), value_(operand(shape.bytes)) {}

  Schedule schedule() {
    schedule_.rounds.resize(3);
    climb();
    if (shape_.is_root()) joins().back().target = result(shape_.bytes);
    return finished(std::move(schedule_));
  }

 private:
  [[nodiscard]] std::vector<Round::Local>& joins() { return schedule_.rounds[1].local; }

  /// Of the ranks [first, last) the one that has their result.
  [[nodiscard]] std::size_t holder(std::size_t first, std::size_t last) const {
    return first <= root_ && root_ < last ? root_ : first;
  }

  void climb() {
    const CanonicalOrder& order = place_.order();
    if (place_.is_in_pair()) {
      const std::size_t lower = order.first_rank(place_.leaf());
      if (!step(lower, lower + 1, holder(lower, lower + 2))) return;
    }
    for (std::size_t size = 1; size < order.leaves(); size *= 2) {
      const std::size_t leaf = place_.leaf() / (2 * size) * (2 * size);
      const std::size_t first = order.first_rank(leaf);
      const std::size_t middle = order.first_rank(leaf + size);
      const std::size_t last = order.first_rank(leaf + 2 * size);
      if (!step(holder(first, middle), holder(middle, last), holder(first, last))) return;
    }
  }

  /// Two halves become one. Whether this rank goes on.
  bool step(std::size_t lower, std::size_t upper, std::size_t goes_on) {
    if (shape_.own() != goes_on) {
      send(schedule_.rounds[2], goes_on, value_);
      return false;
    }
    const Region theirs = scratch(shape_.bytes, schedule_.scratch_bytes);
    schedule_.scratch_bytes += padded(shape_.bytes);
    receive(schedule_.rounds[0], shape_.own() == lower ? upper : lower, theirs);
    Round::Local& join = joins().emplace_back();
    join.sources = shape_.own() == lower ? std::vector{value_, theirs} : std::vector{theirs, value_};
    join.target = value_ = theirs;
    return true;
  }

  const Shape& shape_;
  Place place_;
  std::size_t root_;
  Region value_;
  Schedule schedule_;
};

}  // namespace

Schedule allreduce_along_tree(const Shape& shape) { return Doubling(shape).schedule(); }
Schedule reduce_along_tree(const Shape& shape) { return Climb(shape).schedule(); }

}  // namespace sluice::plans
