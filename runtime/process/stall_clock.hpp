// How long the application has waited for data under guard. In that time a release hides nothing, be it of the data that is
// waited for or of what comes behind it.
//
// With several threads, the time in which at least one waited: a release is judged by the program as a whole, whose other threads
// soon wait for the one. Waits that overlap count less than once in some orders (an early one that ends last), never more.
//
// Shared words. All three are written by threads that begin or end a wait, and read by whoever ends a release; relaxed, as
// nothing else is published through them and a reading that is late by one wait only judges a release a little better.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "runtime/base/clock.hpp"

namespace sluice {

class StallClock {
 public:
  void begin(std::uint64_t now) { began_.store(now, std::memory_order_relaxed); }

  /// The wait that began then is over.
  void end(std::uint64_t began, std::uint64_t now) {
    std::uint64_t counted = counted_until_.load(std::memory_order_relaxed);
    while (counted < now && !counted_until_.compare_exchange_weak(counted, now, std::memory_order_relaxed)) {
    }
    if (counted < now) stalled_ns_.fetch_add(now - std::max(began, counted), std::memory_order_relaxed);
  }

  /// Until `now`, with a wait that is not over.
  [[nodiscard]] std::uint64_t read(std::uint64_t now) const {
    const std::uint64_t began = began_.load(std::memory_order_relaxed);
    const bool waits = began > counted_until_.load(std::memory_order_relaxed) && now > began && now - began < longest_ns;
    return stalled_ns_.load(std::memory_order_relaxed) + (waits ? now - began : 0);
  }

  /// Since it read `before`; a wait that was given up may have been part of that.
  [[nodiscard]] std::uint64_t passed(std::uint64_t before, std::uint64_t now) const {
    const std::uint64_t after = read(now);
    return after - std::min(before, after);
  }

 private:
  /// A thread may leave the fault handler by longjmp, and then never ends its wait.
  static constexpr std::uint64_t longest_ns = 1'000'000'000;

  std::atomic<std::uint64_t> began_{0};  // the wait that began last
  std::atomic<std::uint64_t> counted_until_{0};
  std::atomic<std::uint64_t> stalled_ns_{0};
};

namespace detail {
inline constinit StallClock stall_clock;
}  // namespace detail

/// A call of the application's that waits for releases.
class Stall {
 public:
  Stall() : began_(now_ns()) { detail::stall_clock.begin(began_); }
  ~Stall() { detail::stall_clock.end(began_, now_ns()); }
  Stall(const Stall&) = delete;
  Stall& operator=(const Stall&) = delete;

 private:
  std::uint64_t began_;
};

}  // namespace sluice
