// The better of padded pairs, of which no compiler makes vectors. What moves is the address of a value, without branches: a long
// double is slow to load and slower to store, and is copied as bytes at the end. Internal linkage, as in operations.hpp.
#pragma once

#include <cstddef>
#include <cstring>

#include "runtime/collective/kernels/elements.hpp"

namespace sluice {
namespace {

template <bool Greatest, typename Value, typename Index, std::size_t N>
struct PairTree {
  using Element = Loose<Pair<Value, Index>>;
  struct Candidate {
    const Element* of_value;
    Index index;
  };

  static SLUICE_REDUCE_INLINE Candidate of(const Element* const* from, std::size_t i) {
    if constexpr (N == 1) {
      return {from[0] + i, from[0][i].element.index};
    } else {
      const auto lower = PairTree<Greatest, Value, Index, N / 2>::of(from, i);
      const auto upper = PairTree<Greatest, Value, Index, N / 2>::of(from + N / 2, i);
      const Value lower_value = lower.of_value->element.value;
      const Value upper_value = upper.of_value->element.value;
      const bool wins = Location<Greatest>::lower_wins(lower_value, upper_value);
      const bool has_lower_index = (lower_value == upper_value) & !(upper.index < lower.index);
      return {wins ? lower.of_value : upper.of_value, (wins | has_lower_index) ? lower.index : upper.index};
    }
  }
};

template <bool Greatest, typename Value, typename Index, std::size_t N>
void padded_pairs(const std::byte* const* sources, std::byte* target, std::size_t elements) {
  using Element = Loose<Pair<Value, Index>>;
  const Element* from[N];
  for (std::size_t i = 0; i < N; ++i) from[i] = reinterpret_cast<const Element*>(sources[i]);
  auto* to = reinterpret_cast<Element*>(target);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto best = PairTree<Greatest, Value, Index, N>::of(from, i);
    std::memcpy(&to[i], best.of_value, sizeof(Value));
    to[i].element.index = best.index;
  }
}

template <bool Greatest, typename Value, typename Index>
void padded_pair_kernel(const std::byte* const* sources, std::size_t n_sources, std::byte* target, std::size_t elements) {
  switch (n_sources) {
    case 2:
      return padded_pairs<Greatest, Value, Index, 2>(sources, target, elements);
    case 4:
      return padded_pairs<Greatest, Value, Index, 4>(sources, target, elements);
    default:
      return padded_pairs<Greatest, Value, Index, 8>(sources, target, elements);
  }
}

}  // namespace
}  // namespace sluice
