// Whether two processors are threads of one core.
#include "runtime/copy_pair.hpp"

#include <gtest/gtest.h>

#include "runtime/clock.hpp"
#include "runtime/processors.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t limit_ns = 1'000'000'000;

// Whatever this machine is, arithmetic that takes much longer beside another than it did alone says so, and what takes as long
// as before does not.
TEST(ShareACore, goes_by_what_arithmetic_takes_beside_the_partner) {
  const ProcessorPair processors = two_processors();
  if (!processors.found) GTEST_SKIP() << "one processor only";
  const std::uint64_t alone = compute_alone_ns();
  ASSERT_GT(alone, 0U);
  CopyPair pair(processors.second, now_ns() + limit_ns);
  const auto much_shorter = share_a_core(pair, alone / 8);
  const auto much_longer = share_a_core(pair, alone * 8);
  if (!much_shorter || !much_longer) GTEST_SKIP() << "processors are busy";
  EXPECT_TRUE(*much_shorter);
  EXPECT_FALSE(*much_longer);
}

}  // namespace
}  // namespace sluice
