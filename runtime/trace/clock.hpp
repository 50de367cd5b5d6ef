// The time of records: CLOCK_MONOTONIC, by the processor's time stamp counter where that runs at a constant rate in all states
// (10 ns a reading instead of 24). Design section 10 wants ping-pongs of 64 KB slowed down by less than 3 %.
//
// Each thread has an anchor, a pair of both clocks, and goes by the counter from there. It takes a new one when it has gone on
// for a sixteenth of the time since the origin, the pair taken when the trace was opened, and after 50 ms at most; the rate is
// that of the whole way from the origin to the anchor. So an error e in reading a pair (some 20 ns, if no interrupt comes
// between) is one of e/16 at the end of an anchor's time, and what the system's clock is adjusted by (500 ppm) is at most 25 µs
// off, and less with every adjustment that has lasted a while.
//
// Threading: a Clock belongs to one thread; its signal handlers may read it while it is being changed, and then read the system's
// clock.
#pragma once

#include <cpuid.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "runtime/base/clock.hpp"

namespace sluice::trace {

class Clock {
 public:
  struct Pair {
    std::uint64_t counter = 0;
    std::uint64_t ns = 0;
  };

  /// Without a counter that can be relied on, both are 0.
  static Pair take_pair() {
    static const bool reliable = counter_is_invariant();
    if (!reliable) return {};
    // An interrupt between the readings would be an error of half its length: the closest of a few.
    Pair best;
    std::uint64_t least = ~std::uint64_t{0};
    for (int attempt = 0; attempt < max_attempts && least > close_enough; ++attempt) {
      const std::uint64_t before = __rdtsc();
      const std::uint64_t ns = now_ns();
      const std::uint64_t apart = __rdtsc() - before;
      if (apart >= least) continue;
      least = apart;
      best = {before + apart / 2, ns};
    }
    return best;
  }

  void start(const Pair& origin) {
    origin_ = origin;
    anchor_ = {};
    period_ = 0;
  }

  std::uint64_t now() {
    const std::uint64_t since = __rdtsc() - anchor_.counter;
    if (since >= period_) [[unlikely]]
      return anchor_again();
    return anchor_.ns + (since * rate_ >> rate_bits);
  }

 private:
  static constexpr unsigned rate_bits = 32;
  static constexpr int max_attempts = 4;
  static constexpr std::uint64_t close_enough = 500;  // counts: a fifth of a microsecond or so
  static constexpr std::uint64_t longest_period_ns = 50'000'000;

  static bool counter_is_invariant() {
    constexpr unsigned leaf = 0x80000007;
    constexpr unsigned invariant = 1u << 8;
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && (d & invariant) != 0;
  }

  /// Not inlined: it would make every reading save registers for it.
  [[gnu::noinline, gnu::cold]] std::uint64_t anchor_again() {
    if (origin_.counter == 0) return now_ns();
    period_ = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const Pair pair = take_pair();
    const std::uint64_t ns = pair.ns - origin_.ns;
    const std::uint64_t counts = pair.counter - origin_.counter;
    if (ns == 0 || counts == 0) return pair.ns;
    anchor_ = pair;
    rate_ = static_cast<std::uint64_t>((static_cast<unsigned __int128>(ns) << rate_bits) / counts);
    const std::uint64_t longest = (longest_period_ns << rate_bits) / std::max<std::uint64_t>(rate_, 1);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    period_ = std::min(counts / 16, longest);
    return pair.ns;
  }

  Pair origin_;
  Pair anchor_;
  std::uint64_t rate_ = 0;    // nanoseconds per count, times 2^32
  std::uint64_t period_ = 0;  // counts for which the anchor holds
};

}  // namespace sluice::trace
