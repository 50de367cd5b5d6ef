// The one order in which a reduction combines the operands of p ranks: the tree of recursive doubling.
//
// With r = p - 2^floor(log2 p), the first 2r ranks are joined in pairs (0, 1), (2, 3) ... These pairs and the other ranks are the
// 2^k leaves of a balanced tree. It keeps the order of ranks, so an operation need not be commutative, and rounding errors grow
// with log p. It is what the host computes by recursive doubling and by Rabenseifner's algorithm (R. Rabenseifner, "Optimization
// of Collective Reduction Operations", ICCS 2004).
#pragma once

#include <bit>
#include <cstddef>

namespace sluice {

class CanonicalOrder {
 public:
  constexpr explicit CanonicalOrder(std::size_t ranks) : leaves_(std::bit_floor(ranks)), pairs_(ranks - leaves_) {}

  [[nodiscard]] constexpr std::size_t leaves() const { return leaves_; }
  /// The ranks of the leaves [0, leaf) are [0, first_rank(leaf)).
  [[nodiscard]] constexpr std::size_t first_rank(std::size_t leaf) const { return leaf + (leaf < pairs_ ? leaf : pairs_); }
  [[nodiscard]] constexpr bool is_pair(std::size_t leaf) const { return leaf < pairs_; }

  /// Combines everything: `value(rank)` is a rank's operand, `join(lower, upper)` combines two results.
  template <typename Value, typename Join>
  auto fold(Value value, Join join) const {
    return subtree(0, leaves_, value, join);
  }

 private:
  template <typename Value, typename Join>
  auto subtree(std::size_t leaf, std::size_t count, Value& value, Join& join) const -> decltype(value(leaf)) {
    if (count > 1) {
      auto lower = subtree(leaf, count / 2, value, join);
      return join(lower, subtree(leaf + count / 2, count / 2, value, join));
    }
    const std::size_t rank = first_rank(leaf);
    if (!is_pair(leaf)) return value(rank);
    auto lower = value(rank);
    return join(lower, value(rank + 1));
  }

  std::size_t leaves_;
  std::size_t pairs_;  // leaves of two ranks; they come first
};

}  // namespace sluice
