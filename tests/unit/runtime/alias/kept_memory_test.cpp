#include "runtime/alias/kept_memory.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using kept_memory::Keeper;

constexpr ByteRange range{0x100000, 0x104000};
constexpr ByteRange byte_inside{0x102345, 0x102346};
constexpr ByteRange behind{0x104000, 0x105000};

class KeptMemoryTest : public testing::Test {
 protected:
  KeptMemoryTest() { kept_memory::forget_all({0x1000, 0x10000000}); }
};

TEST_F(KeptMemoryTest, pages_are_kept_from_note_to_forget) {
  EXPECT_FALSE(kept_memory::overlaps(byte_inside));
  kept_memory::note(range, Keeper::keyed);
  EXPECT_TRUE(kept_memory::overlaps(byte_inside));
  EXPECT_FALSE(kept_memory::overlaps(behind));
  kept_memory::forget(range, Keeper::keyed);
  EXPECT_FALSE(kept_memory::overlaps(byte_inside));
}

TEST_F(KeptMemoryTest, what_one_keeper_forgets_another_still_keeps) {
  kept_memory::note(range, Keeper::undumped);
  kept_memory::note(range, Keeper::unforked);
  kept_memory::forget(range, Keeper::undumped);
  EXPECT_TRUE(kept_memory::overlaps(byte_inside));
  kept_memory::forget_all(range);
  EXPECT_FALSE(kept_memory::overlaps(byte_inside));
}

TEST_F(KeptMemoryTest, a_page_is_in_use_until_the_last_operation_on_it_ends) {
  kept_memory::begin_use({0x100000, 0x100800});
  kept_memory::begin_use({0x100800, 0x101800});
  kept_memory::end_use({0x100000, 0x100800});
  EXPECT_TRUE(kept_memory::overlaps({0x100000, 0x100001}));
  EXPECT_TRUE(kept_memory::is_lent({0x100000, 0x100001}));
  kept_memory::end_use({0x100800, 0x101800});
  EXPECT_FALSE(kept_memory::overlaps(range));
}

TEST_F(KeptMemoryTest, only_pages_that_somebody_goes_on_using_are_lent) {
  kept_memory::note(range, Keeper::wiped);
  EXPECT_FALSE(kept_memory::is_lent(range));
  kept_memory::note(range, Keeper::lent);
  EXPECT_TRUE(kept_memory::is_lent(byte_inside));
}

TEST_F(KeptMemoryTest, huge_pages_keep_nothing_from_being_closed) {
  kept_memory::note(range, Keeper::huge);
  EXPECT_TRUE(kept_memory::is_advised_huge(byte_inside));
  EXPECT_FALSE(kept_memory::is_advised_huge(behind));
  EXPECT_FALSE(kept_memory::overlaps(range));
  kept_memory::forget(range, Keeper::huge);
  EXPECT_FALSE(kept_memory::is_advised_huge(range));
}

TEST_F(KeptMemoryTest, a_range_without_bytes_keeps_nothing) {
  kept_memory::note({range.end, range.begin}, Keeper::lent);
  EXPECT_FALSE(kept_memory::overlaps(range));
}

}  // namespace
}  // namespace sluice
