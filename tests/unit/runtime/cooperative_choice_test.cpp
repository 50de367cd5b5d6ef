#include "runtime/cooperative_choice.hpp"

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
  EXPECT_EQ(copier_by_load({.expected = 0, .made = 900}, {.expected = 1, .made = 0}), Copier::sender);
  EXPECT_EQ(copier_by_load({.expected = 2, .made = 0}, {.expected = 1, .made = 900}), Copier::receiver);
}

TEST(CooperativeChoice, of_equal_loads_the_one_that_has_copied_less_copies) {
  EXPECT_EQ(copier_by_load({.expected = 5, .made = 1}, {.expected = 5, .made = 2}), Copier::sender);
  EXPECT_EQ(copier_by_load({.expected = 5, .made = 2}, {.expected = 5, .made = 1}), Copier::receiver);
  EXPECT_EQ(copier_by_load({.expected = 5, .made = 2}, {.expected = 5, .made = 2}), Copier::both);
}

}  // namespace
}  // namespace sluice
