#include "runtime/release/helper_time.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr int here = 3;
constexpr int elsewhere = 4;

TEST(HelperTime, counts_what_the_helper_thread_runs_where_something_was_released) {
  HelperTime time;
  time.released_on(here);
  time.wakes_on(here, 100);
  EXPECT_EQ(time.taken(130), 30u);
  time.sleeps(150);
  EXPECT_FALSE(time.runs());
  EXPECT_EQ(time.taken(1000), 50u);
  time.wakes_on(here, 2000);
  EXPECT_EQ(time.taken(2001), 51u);
}

TEST(HelperTime, counts_nothing_on_another_processor) {
  HelperTime time;
  time.released_on(here);
  time.wakes_on(elsewhere, 100);
  EXPECT_FALSE(time.runs());
  EXPECT_EQ(time.taken(1000), 0u);
}

TEST(HelperTime, counts_nothing_before_anything_was_released) {
  HelperTime time;
  time.wakes_on(here, 100);
  EXPECT_EQ(time.taken(1000), 0u);
}

}  // namespace
}  // namespace sluice
