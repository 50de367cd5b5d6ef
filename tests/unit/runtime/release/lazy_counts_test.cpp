#include "runtime/release/lazy_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace sluice {
namespace {

TEST(LazyCounts, does_not_know_a_count_before_it_is_settled) {
  LazyCounts counts;
  const auto token = counts.issue();

  EXPECT_EQ(counts.find(token), std::nullopt);
  counts.settle(token, 42);
  EXPECT_EQ(counts.find(token), 42U);
}

TEST(LazyCounts, never_issues_zero) { EXPECT_NE(LazyCounts().issue(), 0U); }

TEST(LazyCounts, keeps_every_count_whatever_the_order_of_settling) {
  LazyCounts counts;
  std::mt19937 random(5);
  std::vector<std::uint64_t> tokens(500);
  for (auto& token : tokens) token = counts.issue();
  const auto count_of = [](std::uint64_t token) { return static_cast<std::size_t>(token % 7 == 0 ? token : 1000); };
  std::shuffle(tokens.begin(), tokens.end(), random);

  for (const auto token : tokens) counts.settle(token, count_of(token));

  for (const auto token : tokens) EXPECT_EQ(counts.find(token), count_of(token));
  EXPECT_EQ(counts.find(0), std::nullopt);
  EXPECT_EQ(counts.find(501), std::nullopt);
}

}  // namespace
}  // namespace sluice
