// The releases under guard, in a fixed array that the fault handler reads without a lock.
//
// A slot's closed pages are [first, last). Writers hold the guard's lock. Publishing sets first, then last (release), both
// before the pages become inaccessible; opening advances first after the pages became accessible again; retiring sets last
// to 0. A reader loads last (acquire), then first. It may take a page for closed that has just been opened, and asks again;
// it never takes a closed page for open, because whoever faulted on it did so after the slot was published.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"
#include "runtime/guard/page_guard.hpp"

namespace sluice {

struct Guarded {
  std::atomic<std::uintptr_t> first{0};
  std::atomic<std::uintptr_t> last{0};
  std::atomic<KeptOut> kept_out{KeptOut::everybody};  // written before `first`
  std::atomic<std::uint64_t> touched_after{0};        // written once by the first fault, after the next
  std::atomic<std::uint64_t> stalled_until_touch{0};
  std::atomic<std::uint32_t> operation{0};  // in the trace; written before `first`
  // The rest is written before the slot is published and while it is free.
  std::uint64_t protected_at = 0;
  std::uint64_t stalled_before = 0;  // by the stall clock
  ByteRange buffer;
  bool in_use = false;

  [[nodiscard]] PageRange closed() const {
    const std::uintptr_t end = last.load(std::memory_order_acquire);
    return {first.load(std::memory_order_acquire), end};
  }
  [[nodiscard]] bool keeps_out(KeptOut kind) const { return kept_out.load(std::memory_order_relaxed) == kind; }
  [[nodiscard]] bool keeps_from(Access access) const { return access == Access::write || keeps_out(KeptOut::everybody); }
};

class GuardedSlots {
 public:
  /// A free slot, or nullptr. [lock held]
  Guarded* take();
  /// [lock held]
  void give_back(Guarded& slot);

  /// Calls visit(Guarded&) for every slot with closed pages that overlap `pages`, until it returns true.
  template <typename Visit>
  bool any_overlapping(PageRange pages, Visit&& visit) {
    const std::size_t end = high_water_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < end; ++i) {
      const PageRange closed = slots_[i].closed();
      if (!closed.empty() && closed.overlaps(pages) && visit(slots_[i])) return true;
    }
    return false;
  }

  /// Cuts `pages` where releases of one kind begin and end: calls visit(run, held) in order until it returns false, which it
  /// returns then. [lock held]
  template <typename Visit>
  bool for_each_run(PageRange pages, KeptOut kind, const Guarded* except, Visit&& visit) {
    while (!pages.empty()) {
      PageRange held{pages.end, pages.end};
      any_overlapping(pages, [&](Guarded& other) {
        const PageRange closed = other.closed();
        if (&other != except && other.keeps_out(kind) && closed.begin < held.begin) held = closed;
        return false;
      });
      const PageRange free{pages.begin, std::max(pages.begin, held.begin)};
      const PageRange taken{free.end, std::min(held.end, pages.end)};
      if (!free.empty() && !visit(free, false)) return false;
      if (!taken.empty() && !visit(taken, true)) return false;
      pages.begin = std::max(free.end, taken.end);
    }
    return true;
  }

 private:
  std::array<Guarded, PageGuard::max_guarded> slots_;
  std::atomic<std::size_t> high_water_{0};  // slots at and above it are free
};

}  // namespace sluice
