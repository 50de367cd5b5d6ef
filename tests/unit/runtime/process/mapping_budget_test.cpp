#include "runtime/process/mapping_budget.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace sluice {
namespace {

TEST(MappingBudgetTest, a_quarter_of_what_the_program_leaves) {
  EXPECT_EQ(MappingBudget::share_of(1000, 0), 250u);
  EXPECT_EQ(MappingBudget::share_of(1000, 600), 100u);
  EXPECT_EQ(MappingBudget::share_of(1000, 1000), 0u);
  EXPECT_EQ(MappingBudget::share_of(1000, 5000), 0u);
}

TEST(MappingBudgetTest, never_more_than_it_was_made_for) {
  const MappingBudget budget(10, 1000);
  EXPECT_TRUE(budget.allows(10));
  EXPECT_FALSE(budget.allows(11));
}

TEST(MappingBudgetTest, what_others_use_is_counted_and_own_mappings_are_not) {
  const ProcessMaps maps;
  constexpr std::size_t granted = 4000;
  MappingBudget before(granted, granted);
  before.refresh_if_due(maps, 0);
  ASSERT_TRUE(before.allows(100));

  constexpr std::size_t pages = 3600;
  void* const area = mmap(nullptr, pages * page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(area, MAP_FAILED);
  for (std::size_t page = 1; page < pages; page += 2) {
    ASSERT_EQ(mprotect(static_cast<std::byte*>(area) + page * page_bytes, page_bytes, PROT_NONE), 0);
  }
  MappingBudget after(granted, granted);
  after.refresh_if_due(maps, 0);
  EXPECT_FALSE(after.allows(100));
  MappingBudget mine(granted, granted);
  mine.refresh_if_due(maps, pages);
  EXPECT_TRUE(mine.allows(100));
  munmap(area, pages * page_bytes);
}

TEST(MappingBudgetTest, counts_follow_each_other_slowly) {
  const ProcessMaps maps;
  MappingBudget budget(1000, 1000);
  budget.refresh_if_due(maps, 0);
  ASSERT_TRUE(budget.allows(1));
  budget.refresh_if_due(maps, 0);  // not due: nothing happens, whatever it is told
  EXPECT_TRUE(budget.allows(1));
}

}  // namespace
}  // namespace sluice
