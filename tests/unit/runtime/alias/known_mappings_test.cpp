#include "runtime/alias/known_mappings.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/file.hpp"

namespace sluice {
namespace {

constexpr std::size_t pages = 8;

class KnownMappingsTest : public testing::Test {
 protected:
  void SetUp() override {
    block_ = block_in_place();
    ASSERT_FALSE(block_.empty());
    note(block_);
  }
  void TearDown() override {
    for (const ByteRange made : made_) munmap(reinterpret_cast<void*>(made.begin), made.size());
  }

  /// Anonymous pages that became the file's.
  ByteRange block_in_place() {
    void* const start = mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const ByteRange bytes = ByteRange::of(start, pages * page_bytes);
    made_.push_back(bytes);
    std::memset(start, 1, bytes.size());
    const PageRange all = PageRange::covering(bytes);
    const SegmentSet held = SegmentSet().set();
    const bool moved =
        AliasWindows::fit(bytes) && file_.map_window(bytes) && file_.store(all, held) == 0 && file_.map_over(all, held);
    return moved ? bytes : ByteRange{};
  }

  void note(ByteRange bytes) {
    ProcessMapping mapping;
    ASSERT_TRUE(maps_.find(bytes.begin, mapping));
    known_.note(mapping);
  }

  bool is_known(ByteRange bytes) { return known_.without_known(bytes).empty(); }
  [[nodiscard]] ByteRange part(std::size_t begin, std::size_t end) const {
    return {block_.begin + begin * page_bytes, block_.begin + end * page_bytes};
  }
  [[nodiscard]] static void* start_of(ByteRange bytes) { return reinterpret_cast<void*>(bytes.begin); }

  AliasFile file_;
  ProcessMaps maps_;
  KnownMappings known_{file_};
  ByteRange block_;
  std::vector<ByteRange> made_;
};

TEST_F(KnownMappingsTest, a_mapping_that_was_found_is_still_there_and_its_bytes_are_as_they_were) {
  EXPECT_TRUE(is_known(block_));
  EXPECT_TRUE(is_known({block_.begin + 3 * page_bytes + 17, block_.end - 1}));
  for (std::uintptr_t at = block_.begin; at < block_.end; ++at) ASSERT_EQ(*reinterpret_cast<std::byte*>(at), std::byte{1});
}

TEST_F(KnownMappingsTest, nothing_is_known_beyond_its_end_or_of_what_was_not_found) {
  EXPECT_EQ(known_.without_known({block_.begin, block_.end + page_bytes}).begin, block_.end);
  EXPECT_FALSE(is_known({block_.begin - page_bytes, block_.end}));
  EXPECT_FALSE(is_known(block_in_place()));
}

TEST_F(KnownMappingsTest, a_range_of_two_mappings_is_known_when_both_were_found) {
  madvise(start_of(block_), page_bytes, MADV_RANDOM);  // as a block's seam is made
  EXPECT_FALSE(is_known(block_));
  note(part(0, 1));
  EXPECT_EQ(known_.without_known(block_).begin, block_.begin + page_bytes);
  note(part(1, pages));
  EXPECT_TRUE(is_known(block_));
}

TEST_F(KnownMappingsTest, what_was_unmapped_in_whole_or_in_part_is_not_known) {
  munmap(start_of(part(5, 6)), page_bytes);
  EXPECT_FALSE(is_known(part(0, 2)));
  munmap(start_of(block_), block_.size());
  EXPECT_FALSE(is_known(block_));
}

TEST_F(KnownMappingsTest, private_memory_in_its_place_is_not_known) {
  ASSERT_NE(mmap(start_of(block_), block_.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            MAP_FAILED);
  EXPECT_FALSE(is_known(block_));
}

TEST_F(KnownMappingsTest, another_file_in_its_place_is_not_known) {
  const Descriptor other(memfd_create("other", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(other.get(), static_cast<off_t>(block_.size())), 0);
  ASSERT_NE(mmap(start_of(block_), block_.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, other.get(), 0), MAP_FAILED);
  EXPECT_FALSE(is_known(block_));
}

TEST_F(KnownMappingsTest, a_private_mapping_of_the_same_pages_is_not_known) {
  const auto offset = static_cast<off_t>(block_.begin);
  ASSERT_NE(mmap(start_of(block_), block_.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file_.descriptor(), offset),
            MAP_FAILED);
  EXPECT_FALSE(is_known(block_));
}

TEST_F(KnownMappingsTest, another_block_that_was_moved_to_its_place_is_not_known) {
  const ByteRange other = block_in_place();
  ASSERT_NE(mremap(start_of(other), other.size(), other.size(), MREMAP_MAYMOVE | MREMAP_FIXED, start_of(block_)), MAP_FAILED);
  EXPECT_FALSE(is_known(block_));
}

TEST_F(KnownMappingsTest, other_protection_is_not_known_whether_it_was_found_so_or_not) {
  for (const int protection : {PROT_READ, PROT_NONE}) {
    mprotect(start_of(block_), block_.size(), protection);
    EXPECT_FALSE(is_known(block_));
    note(block_);
    EXPECT_FALSE(is_known(block_));
    mprotect(start_of(block_), block_.size(), PROT_READ | PROT_WRITE);
    note(block_);
    EXPECT_TRUE(is_known(block_));
  }
}

TEST_F(KnownMappingsTest, a_mapping_that_is_found_with_other_borders_takes_the_place_of_those_it_overlaps) {
  mprotect(start_of(part(2, 4)), 2 * page_bytes, PROT_NONE);
  note(part(0, 2));
  note(part(4, pages));
  EXPECT_TRUE(is_known(part(0, 2)));
  EXPECT_FALSE(is_known(part(2, 4)));
  EXPECT_TRUE(is_known(part(4, pages)));
  mprotect(start_of(part(2, 4)), 2 * page_bytes, PROT_READ | PROT_WRITE);
  note(block_);
  EXPECT_TRUE(is_known(block_));
}

TEST_F(KnownMappingsTest, pages_that_a_guard_may_hold_back_by_userfaultfd_are_not_asked_about) {
  class Watcher final : public BlockWatcher {
    void note_block(ByteRange) override {}
    void note_dropped(PageRange) override {}
  } watcher;
  file_.watch(&watcher);
  EXPECT_FALSE(is_known(block_));
  file_.watch(nullptr);
  EXPECT_TRUE(is_known(block_));
}

}  // namespace
}  // namespace sluice
