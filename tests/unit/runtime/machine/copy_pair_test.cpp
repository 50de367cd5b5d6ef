// Whether two processors are threads of one core.
#include "runtime/machine/copy_pair.hpp"

#include <gtest/gtest.h>

#include "runtime/process/processors.hpp"

namespace sluice {
namespace {

// Emerald Rapids and Zen 5 guests; how fast a line is does not say it alone, nor how slow arithmetic is beside somebody else's.
TEST(ShareACore, goes_by_arithmetic_and_by_the_distance) {
  EXPECT_TRUE(is_of_one_core(106, 1.27));
  EXPECT_TRUE(is_of_one_core(90, 2.0));
  EXPECT_FALSE(is_of_one_core(106, 1.02));
  EXPECT_FALSE(is_of_one_core(429, 1.62));
}

TEST(ShareACore, says_nothing_after_its_deadline) {
  const ProcessorPair processors = two_processors();
  if (!processors.found) GTEST_SKIP() << "one processor only";
  CopyPair pair(processors.second, 1);
  EXPECT_FALSE(share_a_core(pair).has_value());
}

}  // namespace
}  // namespace sluice
