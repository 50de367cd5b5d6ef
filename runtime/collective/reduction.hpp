// A reduction over the operands of several ranks, all in this process's memory, in the canonical order (canonical_order.hpp).
//
// The bits of the result depend on the operands and their order only. Long vectors are folded in strips, so that partial results
// stay in the first cache. Any part of a vector gives the bits that the whole gives there: ranks may share the work by elements.
//
// It knows no rank, buffer or lane, allocates nothing and keeps no state: any thread, also in signal handlers. It needs 16 KB of
// stack where sources are more than eight or no power of two.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/collective/reduce_kernel.hpp"

namespace sluice {

class Reduction {
 public:
  /// What a kernel combines at once.
  static constexpr std::size_t most_at_once = 8;

  using Sources = std::span<const std::byte* const>;
  using Targets = std::span<std::byte* const>;

  /// Nothing: MPI does not define it.
  static std::optional<Reduction> of(ReduceOperation operation, ElementKind kind);
  /// With a kernel of the caller's.
  Reduction(ReduceKernel kernel, std::size_t element_bytes, std::uint16_t code)
      : kernel_(kernel), element_bytes_(element_bytes), code_(code) {}

  /// Operation and kind, alike on all ranks; not 0.
  [[nodiscard]] std::uint16_t code() const { return code_; }
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }

  /// target = lower op upper. The target may be either.
  void combine(const std::byte* lower, const std::byte* upper, std::byte* target, std::size_t elements) const;

  /// All sources, in the order of ranks, into each target. A target may be any one of the sources, and overlaps none of them
  /// otherwise.
  void fold(Sources sources, Targets targets, std::size_t elements) const {
    if (targets.size() == 1 && goes_at_once(sources.size())) return kernel_(sources.data(), sources.size(), targets[0], elements);
    fold_in_strips(sources, targets, elements);
  }

 private:
  /// No partial results: one look at all sources.
  static constexpr bool goes_at_once(std::size_t sources) {
    return sources > 1 && sources <= most_at_once && std::has_single_bit(sources);
  }
  void fold_in_strips(Sources sources, Targets targets, std::size_t elements) const;

  ReduceKernel kernel_;
  std::size_t element_bytes_;
  std::uint16_t code_;
};

}  // namespace sluice
