#include "runtime/registration/frequent_probe.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "runtime/alias/watched_memory.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/guard/held_signals.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

constexpr std::size_t probe_pages = 4;
constexpr std::size_t probe_bytes = probe_pages * page_bytes;
constexpr std::size_t probe_copies = 16;  // each to a place of its own, as send slots are
constexpr int probe_uses = 16;
constexpr int probe_batches = 4;  // of which one is not disturbed

double elapsed_ns(std::uint64_t since) { return static_cast<double>(now_ns() - since); }

RegisteredMemory registered(const FrequentProbe::Parts& parts, ByteRange block) {
  const ByteRange alias = ByteRange::of(parts.arena.alias(block.begin), block.size());
  return parts.registrations.acquire(parts.adapter, alias, Backing::alias);
}

/// In ns, to find that a block is there and registered.
std::optional<double> time_of_use(const FrequentProbe::Parts& parts, ByteRange block) {
  const bool watches = watched_memory::is_usable();
  const watched_memory::Watch watch = watches ? watched_memory::watch(block) : watched_memory::Watch();
  double least = std::numeric_limits<double>::max();
  for (int batch = 0; batch < probe_batches; ++batch) {
    const std::uint64_t began = now_ns();
    for (int i = 0; i < probe_uses; ++i) {
      const bool lives = watches ? watched_memory::lasts(watch) : parts.arena.is_live(block);
      if (!lives || !registered(parts, block)) return std::nullopt;
    }
    least = std::min(least, elapsed_ns(began) / probe_uses);
  }
  return least;
}

double time_of_copy_per_byte(const std::byte* from) {
  const auto slots = std::make_unique<std::byte[]>(probe_copies * probe_bytes);  // touched by their making
  const std::uint64_t began = now_ns();
  for (std::size_t i = 0; i < probe_copies; ++i) copy_from_user(slots.get() + i * probe_bytes, from, probe_bytes);
  return elapsed_ns(began) / static_cast<double>(probe_copies * probe_bytes);
}

}  // namespace

std::optional<FrequentTerms> FrequentProbe::measure(const Parts& parts) {
  void* const memory = ::mmap(nullptr, page_bytes + probe_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::nullopt;
  memory_ = Mapping(memory, page_bytes + probe_bytes);
  std::memset(memory, 1, page_bytes + probe_bytes);
  std::byte* const probed = static_cast<std::byte*>(memory) + page_bytes;
  const ByteRange range = ByteRange::of(probed, probe_bytes);
  FrequentTerms terms;

  held_signals::hold();
  // The first block of all has a window to map, which is no cost of a buffer.
  if (!parts.blocks.make(ByteRange::of(memory, page_bytes))) return std::nullopt;
  const std::uint64_t began = now_ns();
  if (!parts.blocks.make(range) || !registered(parts, range)) return std::nullopt;
  terms.register_per_page = elapsed_ns(began) / probe_pages;

  const std::optional<double> use = time_of_use(parts, range);
  // Until the first buffer is frequent, ends of memory are of interest to nobody.
  watched_memory::forget_everything();
  if (!use) return std::nullopt;
  terms.use = *use;
  terms.copy_per_byte = time_of_copy_per_byte(probed);
  return terms;
}

}  // namespace sluice
