#include "verbs/queue_pair.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(queue_pair, retries_last_as_long_as_the_user_grants_and_not_much_longer) {
  constexpr double unit_s = 4.096e-6;
  constexpr double attempts = 7;
  for (unsigned seconds = 1; seconds <= 60; ++seconds) {
    const double lasts = attempts * unit_s * static_cast<double>(1U << QueuePair::timeout_code(seconds));
    EXPECT_GE(lasts, seconds);
    EXPECT_LT(lasts, 2 * seconds);
  }
}

}  // namespace
}  // namespace sluice
