#include "runtime/alias/page_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace sluice {
namespace {

TEST(PageSetTest, neighbours_merge) {
  PageSet set;
  set.add({10, 20});
  set.add({30, 40});
  set.add({20, 30});
  EXPECT_EQ(set.intervals(), 1u);
  EXPECT_EQ(set.pages(), 30u);
}

TEST(PageSetTest, removing_the_middle_leaves_both_ends) {
  PageSet set;
  set.add({10, 20});
  set.remove({13, 15});
  EXPECT_TRUE(set.contains({10, 13}));
  EXPECT_TRUE(set.contains({15, 20}));
  EXPECT_FALSE(set.overlaps({13, 15}));
  EXPECT_EQ(set.intervals(), 2u);
}

TEST(PageSetTest, a_range_across_a_gap_is_not_contained) {
  PageSet set;
  set.add({10, 12});
  set.add({13, 15});
  EXPECT_FALSE(set.contains({10, 15}));
  EXPECT_TRUE(set.overlaps({12, 14}));
}

TEST(PageSetTest, behaves_as_a_set_of_pages) {
  std::mt19937 random(7);
  PageSet set;
  std::set<std::uintptr_t> model;
  const auto any_range = [&] {
    const std::uintptr_t begin = random() % 200;
    return PageRange{begin, begin + random() % 20};
  };
  for (int step = 0; step < 5000; ++step) {
    const PageRange changed = any_range();
    const bool adds = random() % 2 != 0;
    adds ? set.add(changed) : set.remove(changed);
    for (std::uintptr_t page = changed.begin; page < changed.end; ++page) {
      adds ? static_cast<void>(model.insert(page)) : static_cast<void>(model.erase(page));
    }
    ASSERT_EQ(set.pages(), model.size());
    const PageRange asked = any_range();
    std::vector<std::uintptr_t> expected(model.lower_bound(asked.begin), model.lower_bound(asked.end));
    std::vector<std::uintptr_t> found;
    set.for_each_inside(asked, [&](PageRange run) {
      for (std::uintptr_t page = run.begin; page < run.end; ++page) found.push_back(page);
    });
    ASSERT_EQ(found, expected) << "step " << step;
    ASSERT_EQ(set.contains(asked), expected.size() == asked.size());
    ASSERT_EQ(set.overlaps(asked), !expected.empty());
  }
}

}  // namespace
}  // namespace sluice
