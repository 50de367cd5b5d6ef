#include "runtime/alias/sweeper.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace sluice {
namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::size_t mb = std::size_t{1} << 20;

TEST(SweepPaceTest, much_memory_is_looked_at_often_and_little_seldom) {
  SweepPace pace;
  const std::uint64_t often = pace.next_ns(1000 * mb, 1000, 1000 * ms);
  EXPECT_LE(often, 20 * ms);
  EXPECT_GT(pace.next_ns(4 * mb, 1000, 1000 * ms), 10 * often);
  EXPECT_LE(pace.next_ns(4096, 1000, 1000 * ms), 1000 * ms);
}

TEST(SweepPaceTest, looks_take_a_small_share_of_the_time) {
  SweepPace pace;
  EXPECT_GE(pace.next_ns(1000 * mb, 5 * ms, 1000 * ms), 1000 * ms);
}

TEST(SweepPaceTest, between_looks_that_cost_much_there_are_glances_where_much_can_be_saved) {
  SweepPace pace;
  EXPECT_EQ(pace.glance_ns(), 0U);
  const std::uint64_t rarely = pace.next_ns(1000 * mb, 5 * ms, 1000 * ms);
  EXPECT_LT(10 * pace.glance_ns(), rarely);
  const std::uint64_t of_little = pace.next_ns(1 * mb, 1000, 1000 * ms);
  EXPECT_EQ(pace.glance_ns(), of_little);
}

TEST(SweepPaceTest, a_process_that_does_not_compute_is_looked_at_ever_more_rarely_and_at_once_when_it_does) {
  SweepPace pace;
  const std::uint64_t first = pace.next_ns(1000 * mb, 1000, 20 * ms);
  std::uint64_t idle = first;
  for (int look = 0; look < 10; ++look) idle = pace.next_ns(1000 * mb, 1000, 0);
  EXPECT_GE(idle, 10 * first);
  EXPECT_EQ(pace.next_ns(1000 * mb, 1000, 1000 * ms), first);
}

void wait_for(const std::atomic<int>& looks, int wanted) {
  while (looks.load() < wanted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(SweeperTest, looks_only_when_roused_while_there_is_nothing) {
  std::atomic<int> looks{0};
  Sweeper sweeper([&] { return ++looks, 0; });
  wait_for(looks, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(looks.load(), 1);
  sweeper.rouse();
  wait_for(looks, 2);
}

TEST(SweeperTest, goes_on_looking_while_there_is_something) {
  std::atomic<int> looks{0};
  const Sweeper sweeper([&] { return ++looks, 1000 * mb; });
  wait_for(looks, 3);
}

}  // namespace
}  // namespace sluice
