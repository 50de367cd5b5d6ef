#include "runtime/policy/cooperative_choice.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(CooperativeChoice, follows_the_papers_table_for_the_kinds_of_both_calls) {
  EXPECT_EQ(copier_by_calls(SendCall::blocking, true), Copier::both);
  EXPECT_EQ(copier_by_calls(SendCall::blocking, false), Copier::sender);
  EXPECT_EQ(copier_by_calls(SendCall::nonblocking, true), Copier::receiver);
  EXPECT_EQ(copier_by_calls(SendCall::nonblocking, false), Copier::both);
  EXPECT_EQ(copier_by_calls(SendCall::buffered, true), Copier::receiver);
  EXPECT_EQ(copier_by_calls(SendCall::buffered, false), Copier::sender);
}

TEST(CooperativeChoice, the_smaller_load_copies) {
  EXPECT_EQ(copier_by_load({.expected = 0, .made = 0}, {.expected = 1, .made = 0}, 100), Copier::sender);
  EXPECT_EQ(copier_by_load({.expected = 2, .made = 0}, {.expected = 1, .made = 0}, 100), Copier::receiver);
  EXPECT_EQ(copier_by_load({.expected = 5, .made = 2}, {.expected = 5, .made = 2}, 100), Copier::both);
}

TEST(CooperativeChoice, of_equal_loads_the_one_that_has_copied_less_copies) {
  EXPECT_EQ(copier_by_load({.expected = 5, .made = 1}, {.expected = 5, .made = 2}, 100), Copier::sender);
  EXPECT_EQ(copier_by_load({.expected = 5, .made = 2}, {.expected = 5, .made = 1}, 100), Copier::receiver);
}

TEST(CooperativeChoice, a_copy_that_was_made_counts_as_one_that_is_expected) {
  EXPECT_EQ(copier_by_load({.expected = 100, .made = 0}, {.expected = 0, .made = 200}, 100), Copier::sender);
  EXPECT_EQ(copier_by_load({.expected = 200, .made = 0}, {.expected = 0, .made = 100}, 100), Copier::receiver);
  EXPECT_EQ(copier_by_load({.expected = 100, .made = 100}, {.expected = 0, .made = 200}, 100), Copier::both);
}

TEST(CooperativeChoice, of_what_was_made_only_a_few_messages_count) {
  constexpr std::uint64_t long_ago = 1'000'000;
  EXPECT_EQ(copier_by_load({.expected = 100 * counted_history - 1, .made = 0}, {.expected = 0, .made = long_ago}, 100),
            Copier::sender);
  EXPECT_EQ(copier_by_load({.expected = 100 * counted_history + 1, .made = 0}, {.expected = 0, .made = long_ago}, 100),
            Copier::receiver);
  EXPECT_EQ(copier_by_load({.expected = 0, .made = long_ago}, {.expected = 100 * counted_history + 1, .made = 0}, 100),
            Copier::sender);
}

}  // namespace
}  // namespace sluice
