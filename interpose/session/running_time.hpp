// Time in which this process ran, or could have, for limits on the silence of others. A whole machine that stands still (a paused
// guest, a suspended laptop) goes on with the clock far ahead, and nobody has been silent meanwhile.
#pragma once

#include <algorithm>
#include <chrono>

namespace sluice {

/// Of one thread, which looks again and again. Thread safety: none.
class RunningTime {
 public:
  using Clock = std::chrono::steady_clock;

  /// No more than this is counted between two looks. Whoever waits for a processor gets one sooner.
  static constexpr std::chrono::milliseconds max_between_looks{100};

  explicit RunningTime(Clock::time_point start) : last_look_(start) {}

  /// Up to `now`.
  Clock::duration look(Clock::time_point now) {
    ran_ += std::min<Clock::duration>(now - last_look_, max_between_looks);
    last_look_ = now;
    return ran_;
  }

 private:
  Clock::time_point last_look_;
  Clock::duration ran_{};
};

}  // namespace sluice
