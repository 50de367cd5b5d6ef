// Paths that are known by what lies on the stack (call_paths.hpp).

#include <sys/mman.h>

#include <algorithm>

#include "runtime/trace/call_paths.hpp"

namespace sluice::trace {

struct KnownPaths::Entry {
  std::atomic<std::uint64_t> key{0};
  std::atomic<std::uint32_t> site{0};
  std::uint32_t depth = 0;
  std::array<CallPath::Level, max_frames> levels{};

  /// In order from the innermost: where one word differs, those beyond it may lie on no stack.
  [[nodiscard]] bool is_on_stack() const {
    return std::all_of(levels.begin(), levels.begin() + depth, [](const CallPath::Level& level) {
      return __atomic_load_n(reinterpret_cast<const std::uintptr_t*>(level.at), __ATOMIC_RELAXED) == level.address;
    });
  }
};

namespace {

/// Its address is the thread's own, and moves with the stack.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::byte this_thread{};

std::uint64_t key_of(std::uintptr_t return_address, std::uintptr_t frame) {
  const std::array<std::uint64_t, 3> all{return_address, frame, reinterpret_cast<std::uintptr_t>(&this_thread)};
  return XXH3_64bits(all.data(), sizeof all) | 1;
}

}  // namespace

KnownPaths::KnownPaths() {
  const std::size_t bytes = capacity * sizeof(Entry);
  void* const start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) throw_errno("mmap of the table of call paths");
  memory_ = Mapping(start, bytes);
}

KnownPaths::Entry* KnownPaths::entries() const { return reinterpret_cast<Entry*>(memory_.start()); }

std::uint32_t KnownPaths::find(std::uintptr_t return_address, std::uintptr_t frame) const {
  const std::uint64_t key = key_of(return_address, frame);
  for (std::size_t probe = 0; probe < max_probes; ++probe) {
    const Entry& entry = entries()[(key + probe) % capacity];
    const std::uint64_t there = entry.key.load(std::memory_order_relaxed);
    if (there == 0) return 0;
    if (there != key) continue;
    const std::uint32_t site = entry.site.load(std::memory_order_acquire);
    if (site != 0 && entry.is_on_stack()) return site;
  }
  return 0;
}

void KnownPaths::add(std::uintptr_t frame, const CallPath& path, std::uint32_t site) {
  const std::uint64_t key = key_of(path.levels[0].address, frame);
  for (std::size_t probe = 0; probe < max_probes; ++probe) {
    Entry& entry = entries()[(key + probe) % capacity];
    std::uint64_t empty = 0;
    if (!entry.key.compare_exchange_strong(empty, key, std::memory_order_relaxed)) continue;
    entry.depth = static_cast<std::uint32_t>(path.depth);
    entry.levels = path.levels;
    entry.site.store(site, std::memory_order_release);
    return;
  }
}

void KnownPaths::forget() {
  for (std::size_t i = 0; i < capacity; ++i) {
    entries()[i].site.store(0, std::memory_order_relaxed);
    entries()[i].key.store(0, std::memory_order_relaxed);
  }
}

}  // namespace sluice::trace
