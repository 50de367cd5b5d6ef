#include "shmem/cache_hints.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sluice::cache_hints {
namespace {

/// Stays in the nearest caches of both sides, and of all processes that share a processor. docs/results/shmem.md has what laps
/// gain.
constexpr std::size_t nearest_lap = std::size_t{4} << 10;
/// On some of Intel's processors lines that went to another one are the slower to get back the sooner that is.
[[maybe_unused]] constexpr std::size_t intel_lap = std::size_t{64} << 10;
/// What all rings of a process may take of its caches.
[[maybe_unused]] constexpr std::size_t max_in_laps = std::size_t{512} << 10;

}  // namespace

#if defined(__x86_64__)

namespace {

constexpr std::size_t line = 64;

/// Early ownership makes messages faster on Intel's processors; on others it gains nothing, or costs (docs/results/shmem.md).
bool is_of_intel() {
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") != 0;
}
const bool of_intel = is_of_intel();

}  // namespace

std::size_t lap_bytes(std::size_t processes, bool elsewhere) noexcept {
  return of_intel && elsewhere ? std::clamp(max_in_laps / processes, nearest_lap, intel_lap) : nearest_lap;
}

// Both instructions are no-operations where the processor does not know them, so nothing has to be asked first.

__attribute__((target("cldemote"))) void demote(const std::byte* first, std::size_t bytes) noexcept {
  for (std::size_t offset = 0; offset < bytes; offset += line) _cldemote(const_cast<std::byte*>(first) + offset);
}

__attribute__((target("prfchw"))) void own(const std::byte* first, std::size_t bytes) noexcept {
  if (!of_intel) return;
  for (std::size_t offset = 0; offset < bytes; offset += line) __builtin_prefetch(first + offset, 1);
}

#else

std::size_t lap_bytes(std::size_t /*processes*/, bool /*elsewhere*/) noexcept { return nearest_lap; }

void demote(const std::byte* /*first*/, std::size_t /*bytes*/) noexcept {}

void own(const std::byte* first, std::size_t bytes) noexcept {
  for (std::size_t offset = 0; offset < bytes; offset += 64) __builtin_prefetch(first + offset, 1);
}

#endif

}  // namespace sluice::cache_hints
