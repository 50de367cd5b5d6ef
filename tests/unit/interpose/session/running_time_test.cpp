#include "interpose/session/running_time.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(RunningTime, is_the_clock_s_where_looks_follow_each_other) {
  RunningTime::Clock::time_point now{};
  RunningTime time(now);
  for (int look = 0; look < 1000; look++) time.look(now += 10ms);
  EXPECT_EQ(time.look(now), 10s);
}

TEST(RunningTime, does_not_count_that_everything_stood_still) {
  const RunningTime::Clock::time_point start{};
  RunningTime time(start);
  EXPECT_EQ(time.look(start + 50ms), 50ms);
  EXPECT_EQ(time.look(start + 1h), 50ms + RunningTime::max_between_looks);
  EXPECT_EQ(time.look(start + 1h + 20ms), 70ms + RunningTime::max_between_looks);
}

}  // namespace
}  // namespace sluice
