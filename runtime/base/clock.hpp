// Time in nanoseconds of the monotonic clock; about 20 ns a reading, so the progress loop takes one every few dozen polls.
#pragma once

#include <cstdint>
#include <ctime>

namespace sluice {

inline std::uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace sluice
