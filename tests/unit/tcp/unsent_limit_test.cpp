#include "tcp/unsent_limit.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::uint64_t mbit = 1'000'000 / 8;

TEST(UnsentLimit, is_what_the_link_takes_in_less_than_a_millisecond) {
  EXPECT_EQ(UnsentLimit::bytes_for(1000 * mbit), 100'000U);
  EXPECT_EQ(UnsentLimit::bytes_for(2500 * mbit), 249'600U);
}

TEST(UnsentLimit, lets_a_slow_link_have_enough_to_be_filled_again_in_time) {
  EXPECT_EQ(UnsentLimit::bytes_for(100 * mbit), 65536U);
  EXPECT_EQ(UnsentLimit::bytes_for(1), 65536U);
}

TEST(UnsentLimit, is_none_for_a_fast_link_and_for_one_that_is_not_known) {
  EXPECT_EQ(UnsentLimit::bytes_for(10'000 * mbit), 0U);
  EXPECT_EQ(UnsentLimit::bytes_for(~std::uint64_t{0}), 0U);
  EXPECT_EQ(UnsentLimit::bytes_for(0), 0U);
}

TEST(UsualRate, is_unknown_at_first) {
  UsualRate rate;
  EXPECT_EQ(rate.with(10 * mbit), UsualRate::unknown);
  EXPECT_EQ(rate.with(10 * mbit), UsualRate::unknown);
  EXPECT_EQ(rate.with(1000 * mbit), 1000 * mbit);
}

TEST(UsualRate, leaves_out_what_was_let_through_at_once) {
  UsualRate rate;
  for (const std::uint64_t sample : {1000 * mbit, 9000 * mbit, 1000 * mbit, 950 * mbit, 9000 * mbit}) (void)rate.with(sample);
  EXPECT_EQ(rate.with(1010 * mbit), 1010 * mbit);
}

TEST(UsualRate, follows_a_link_that_changes) {
  UsualRate rate;
  for (int i = 0; i < 5; ++i) (void)rate.with(10'000 * mbit);
  EXPECT_EQ(rate.with(1000 * mbit), 10'000 * mbit);
  EXPECT_EQ(rate.with(1000 * mbit), 10'000 * mbit);
  EXPECT_EQ(rate.with(1000 * mbit), 1000 * mbit);
}

}  // namespace
}  // namespace sluice
