// Blocks that are made and given back segment by segment: untouched pages, holes, seams, and segments that cannot be moved.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "runtime/alias/held_pages.hpp"
#include "runtime/alias/huge_pages.hpp"
#include "runtime/process/process_maps.hpp"
#include "tests/unit/support/arena_fixture.hpp"
#include "tests/unit/support/page_of_zeros.hpp"
#include "tests/unit/support/patterned_memory.hpp"

namespace sluice {
namespace {

/// Anonymous memory of which nothing exists.
class Untouched {
 public:
  explicit Untouched(std::size_t pages) : bytes_(pages * page_bytes) {
    start_ = static_cast<std::byte*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(start_, bytes_, MADV_NOHUGEPAGE);
  }
  ~Untouched() { munmap(start_, bytes_); }
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;
  [[nodiscard]] std::byte& page(std::size_t index) const { return start_[index * page_bytes]; }
  [[nodiscard]] ByteRange range() const { return ByteRange::of(start_, bytes_); }

 private:
  std::size_t bytes_;
  std::byte* start_;
};

TEST_F(AliasArenaTest, pages_that_were_never_written_to_cost_nothing_as_blocks) {
  const Untouched memory(3000);
  for (const std::size_t index : {0, 1, 999, 2999}) memory.page(index) = std::byte{5};
  const std::size_t read = has_page_of_zeros() ? 100 : 0;
  for (std::size_t index = 100; index < 100 + read; ++index) ASSERT_EQ(memory.page(index), std::byte{0});
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  EXPECT_EQ(occupied(arena_), 4 * page_bytes);
  EXPECT_EQ(memory.page(999), std::byte{5});
  EXPECT_EQ(memory.page(1000), std::byte{0});
  *arena_.alias(memory.range().begin + 2000 * page_bytes) = std::byte{6};
  EXPECT_EQ(memory.page(2000), std::byte{6});
}

TEST_F(AliasArenaTest, what_is_sent_and_mostly_untouched_is_no_block) {
  const Untouched memory(64);
  for (std::size_t index = 0; index < 32; ++index) memory.page(index) = std::byte{5};
  EXPECT_EQ(arena_.migrate(memory.range(), AliasArena::Purpose::sent), Ineligible::untouched);
  for (std::size_t index = 32; index < 64; ++index) memory.page(index) = std::byte{5};
  EXPECT_EQ(arena_.migrate(memory.range(), AliasArena::Purpose::sent), Ineligible::none);
}

TEST_F(AliasArenaTest, untouched_pages_exist_before_they_come_under_a_guard_that_needs_them) {
  const Untouched memory(16);
  memory.page(3) = std::byte{1};
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  ASSERT_TRUE(arena_.fill_holes({memory.range().begin, memory.range().begin + 8 * page_bytes}));
  EXPECT_EQ(occupied(arena_), 8 * page_bytes);
}

TEST_F(AliasArenaTest, a_block_of_many_segments_is_one_mapping_behind_its_seam) {
  const Memory memory(3 * segment_pages);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  EXPECT_TRUE(memory.intact());
  const ByteRange behind_seam{memory.range().begin + page_bytes, memory.range().end};
  EXPECT_EQ(arena_.first_mapping_in_place(behind_seam).size(), behind_seam.size());
}

/// The kernel refuses to read the last page, so its segment stays as it was.
TEST_F(AliasArenaTest, where_a_segment_cannot_be_moved_those_before_it_are_blocks) {
  constexpr int install_guard = 102;  // MADV_GUARD_INSTALL, Linux 6.13
  const Memory memory(3 * segment_pages);
  std::byte* const last = memory.start() + memory.size() - page_bytes;
  if (madvise(last, page_bytes, install_guard) != 0) GTEST_SKIP() << "this kernel has no guard pages";
  EXPECT_EQ(arena_.migrate(memory.range()), Ineligible::failed);
  EXPECT_TRUE(arena_.is_live({memory.range().begin, memory.range().begin + 2 * segment_bytes - page_bytes}));
  memory.start()[5] = Memory::pattern(5);
  *(last - 1) = Memory::pattern(memory.size() - page_bytes - 1);  // writable
}

TEST_F(AliasArenaTest, an_untouched_page_does_not_show_what_an_earlier_block_left_there) {
  const Memory old(16);
  const ByteRange range = old.range();
  ASSERT_EQ(arena_.migrate(range), Ineligible::none);
  ASSERT_NE(mmap(old.start(), old.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), MAP_FAILED);
  old.start()[0] = std::byte{1};
  ASSERT_EQ(arena_.migrate(range), Ineligible::none);
  EXPECT_EQ(old.start()[0], std::byte{1});
  for (std::size_t at = 1; at < old.size(); ++at) ASSERT_EQ(old.start()[at], std::byte{0}) << at;
}

TEST_F(AliasArenaTest, memory_that_is_private_again_has_the_holes_that_it_had) {
  const Untouched memory(3 * segment_pages);
  memory.page(0) = memory.page(700) = memory.page(3 * segment_pages - 1) = std::byte{5};
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  ASSERT_TRUE(arena_.privatize(memory.range()));
  EXPECT_EQ(occupied(arena_), 0u);
  EXPECT_EQ(memory.page(700), std::byte{5});
  if (HugePages::setting() == HugePages::Setting::all) GTEST_SKIP() << "this kernel fills holes with huge pages";
  EXPECT_EQ(HeldPages().count(PageRange::covering(memory.range())), 3u);
}

TEST_F(AliasArenaTest, memory_of_many_segments_that_is_private_again_is_one_mapping) {
  const Memory memory(3 * segment_pages);
  ASSERT_EQ(arena_.migrate(memory.range()), Ineligible::none);
  ASSERT_TRUE(arena_.privatize({memory.range().begin + page_bytes, memory.range().end}));
  EXPECT_TRUE(memory.intact());
  ProcessMapping mapping;
  ASSERT_TRUE(ProcessMaps().find(memory.range().begin + page_bytes, mapping));
  EXPECT_GE(mapping.bytes.end, memory.range().end);
}

TEST_F(AliasArenaTest, a_look_frees_what_was_unmapped_unseen) {
  auto memory = std::make_unique<Memory>(64);
  const Memory other(8);
  ASSERT_EQ(arena_.migrate(memory->range()), Ineligible::none);
  ASSERT_EQ(arena_.migrate(other.range()), Ineligible::none);
  EXPECT_EQ(arena_.look(), 72 * page_bytes);
  memory.reset();
  EXPECT_EQ(arena_.look(), 8 * page_bytes);
  EXPECT_EQ(occupied(arena_), 8 * page_bytes);
  EXPECT_TRUE(other.intact());
}

}  // namespace
}  // namespace sluice
