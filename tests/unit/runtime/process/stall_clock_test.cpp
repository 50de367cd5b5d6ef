#include "runtime/process/stall_clock.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sluice {
namespace {

TEST(StallClock, stands_while_nobody_waits) {
  StallClock clock;
  EXPECT_EQ(clock.read(100), 0U);
  clock.begin(100);
  clock.end(100, 150);
  EXPECT_EQ(clock.read(150), 50U);
  EXPECT_EQ(clock.read(900), 50U);
}

TEST(StallClock, counts_a_wait_that_is_not_over) {
  StallClock clock;
  clock.begin(100);
  EXPECT_EQ(clock.read(130), 30U);
  clock.end(100, 150);
  EXPECT_EQ(clock.read(150), 50U);
}

TEST(StallClock, counts_waits_that_overlap_once) {
  StallClock clock;
  clock.begin(100);
  clock.begin(120);
  clock.end(100, 150);
  clock.end(120, 160);
  EXPECT_EQ(clock.read(200), 60U);
}

TEST(StallClock, gives_up_a_wait_that_never_ends) {
  StallClock clock;
  clock.begin(100);
  const std::uint64_t before = clock.read(500);
  EXPECT_EQ(clock.passed(before, 600), 100U);
  EXPECT_EQ(clock.passed(before, std::uint64_t{100} + 2'000'000'000), 0U);
  clock.begin(3'000'000'000);
  clock.end(3'000'000'000, 3'000'000'040);
  EXPECT_EQ(clock.read(3'000'000'050), 40U);
}

TEST(StallClock, never_counts_more_than_has_passed_whatever_threads_do) {
  StallClock clock;
  const std::uint64_t start = now_ns();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int wait = 0; wait < 1000; ++wait) {
        const std::uint64_t began = now_ns();
        clock.begin(began);
        clock.end(began, now_ns());
      }
    });
  }
  threads.clear();
  const std::uint64_t now = now_ns();
  EXPECT_LE(clock.read(now), now - start);
}

}  // namespace
}  // namespace sluice
