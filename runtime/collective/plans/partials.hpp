// Which results of a node's own ranks are subtrees of the canonical order: only those may be joined before they leave the node.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/collective/canonical_order.hpp"
#include "runtime/collective/plans/node_map.hpp"

namespace sluice::plans {

/// Ranks [first, first + count), which are all on one node.
struct Partial {
  std::size_t node = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};

class Partials {
 public:
  Partials(std::size_t ranks, const NodeMap& map);

  /// In the order of ranks.
  [[nodiscard]] const std::vector<Partial>& all() const { return all_; }
  /// All joined are the canonical order of so many operands.
  [[nodiscard]] bool are_canonical() const { return are_canonical_; }

  /// Joins them as the whole tree does: `join(lower, upper, is_last)` of two values.
  template <typename Value, typename Join>
  auto fold(Value value, Join join) const {
    std::size_t next = 0;
    const auto one = [&] { return value(all_[next++]); };
    return subtree(0, order_.leaves(), next, one, join);
  }

 private:
  void collect(std::size_t leaf, std::size_t leaves);

  template <typename One, typename Join>
  auto subtree(std::size_t leaf, std::size_t leaves, const std::size_t& next, One& one, Join& join) const -> decltype(one()) {
    const std::size_t first = order_.first_rank(leaf);
    const std::size_t count = order_.first_rank(leaf + leaves) - first;
    if (all_[next].count == count) return one();
    const bool is_last = leaves == order_.leaves();
    if (leaves == 1) {
      auto lower = one();
      return join(lower, one(), is_last);
    }
    auto lower = subtree(leaf, leaves / 2, next, one, join);
    return join(lower, subtree(leaf + leaves / 2, leaves / 2, next, one, join), is_last);
  }

  const NodeMap& map_;
  CanonicalOrder order_;
  std::vector<Partial> all_;
  bool are_canonical_ = false;
};

}  // namespace sluice::plans
