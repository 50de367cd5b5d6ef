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

}  // namespace
}  // namespace sluice
