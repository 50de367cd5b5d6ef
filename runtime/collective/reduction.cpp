#include "runtime/collective/reduction.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/collective/canonical_order.hpp"

namespace sluice {
namespace {

constexpr std::size_t most_at_once = Reduction::most_at_once;
/// Of one operand or partial result: as many as a kernel reads lie in the first cache together.
constexpr std::size_t most_strip_bytes = 2048;
constexpr std::size_t scratch_bytes = 16384;

/// One strip of a fold: the sources of it, and room for partial results.
struct Fold {
  ReduceKernel kernel;
  CanonicalOrder order;
  const std::byte* const* sources;
  std::size_t offset;  // of the strip in each source, in bytes
  std::size_t elements;
  std::byte* scratch;
  std::size_t strip_bytes;

  [[nodiscard]] std::byte* slot(std::size_t number) const { return scratch + number * strip_bytes; }

  /// Neighbouring ranks at once.
  void ranks(std::size_t first, std::size_t count, std::byte* target) const {
    const std::byte* from[most_at_once];
    for (std::size_t i = 0; i < count; ++i) from[i] = sources[first + i] + offset;
    kernel(from, count, target, elements);
  }

  /// The leaves [leaf, leaf + count): where their result lies. It goes to `target` unless it is a source as it stands. Slots from
  /// `free_slot` on are free, and the target is one before unless it is the caller's.
  [[nodiscard]] const std::byte* leaves(std::size_t leaf, std::size_t count, std::byte* target, std::size_t free_slot) const {
    const std::size_t first = order.first_rank(leaf);
    const std::size_t n_ranks = order.first_rank(leaf + count) - first;
    if (n_ranks == 1) return sources[first] + offset;
    if (n_ranks <= most_at_once && (n_ranks == count || n_ranks == 2 * count)) {
      ranks(first, n_ranks, target);
      return target;
    }
    // The caller's target may be a source of either half.
    std::byte* lower_target = free_slot == 0 ? slot(free_slot++) : target;
    const std::byte* lower = leaves(leaf, count / 2, lower_target, free_slot);
    const std::byte* upper = leaves(leaf + count / 2, count / 2, slot(free_slot), free_slot + 1);
    const std::byte* halves[] = {lower, upper};
    kernel(halves, 2, target, elements);
    return target;
  }
};

/// Slots in use at one time: two below the root, one more at each further level.
std::size_t slots_of(std::size_t sources) { return static_cast<std::size_t>(std::bit_width(sources)) + 1; }

std::size_t strip_elements(std::size_t slots, std::size_t element_bytes) {
  return std::min(most_strip_bytes, scratch_bytes / slots) / element_bytes;
}

}  // namespace

std::optional<Reduction> Reduction::of(ReduceOperation operation, ElementKind kind) {
  const ReduceKernel kernel = reduce_kernel(operation, kind);
  if (!kernel) return std::nullopt;
  const auto code = static_cast<std::uint16_t>((1 + static_cast<unsigned>(operation)) << 8 | static_cast<unsigned>(kind));
  return Reduction(kernel, sluice::element_bytes(kind), code);
}

void Reduction::combine(const std::byte* lower, const std::byte* upper, std::byte* target, std::size_t elements) const {
  const std::byte* sources[] = {lower, upper};
  kernel_(sources, 2, target, elements);
}

void Reduction::fold_in_strips(Sources sources, Targets targets, std::size_t elements) const {
  alignas(64) std::byte scratch[scratch_bytes];
  const std::size_t strip = strip_elements(slots_of(sources.size()), element_bytes_);
  Fold fold{kernel_, CanonicalOrder(sources.size()), sources.data(), 0, 0, scratch, strip * element_bytes_};
  for (std::size_t done = 0; done < elements; done += strip) {
    fold.elements = std::min(strip, elements - done);
    fold.offset = done * element_bytes_;
    const std::byte* result = fold.leaves(0, fold.order.leaves(), targets[0] + fold.offset, 0);
    for (std::byte* target : targets) {
      if (target + fold.offset != result) std::memcpy(target + fold.offset, result, fold.elements * element_bytes_);
    }
  }
}

}  // namespace sluice
