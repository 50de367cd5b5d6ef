#include "runtime/alias/huge_pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/kept_memory.hpp"

namespace sluice {
namespace {

using Setting = HugePages::Setting;

constexpr std::size_t plenty_of_mappings = 10000;

/// So many extents of anonymous memory, all by themselves.
class Extents {
 public:
  explicit Extents(std::size_t count, int advice)
      : reserved_(mmap(nullptr, (count + 2) * segment_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                  (count + 2) * segment_bytes),
        begin_((reinterpret_cast<std::uintptr_t>(reserved_.start()) / segment_bytes + 1) * segment_bytes),
        bytes_{begin_, begin_ + count * segment_bytes} {
    mprotect(start(), bytes_.size(), PROT_READ | PROT_WRITE);
    madvise(start(), bytes_.size(), advice);
  }
  [[nodiscard]] void* start() const { return reinterpret_cast<void*>(begin_); }
  [[nodiscard]] ByteRange bytes() const { return bytes_; }
  [[nodiscard]] ProcessMapping mapping() const {
    ProcessMapping mapping;
    mapping.bytes = bytes_;
    return mapping;
  }
  void touch() const { std::memset(start(), 1, bytes_.size()); }
  [[nodiscard]] long huge_kb() const { return huge_kb_in("/proc/self/smaps", bytes_); }

 private:
  Mapping reserved_;
  std::uintptr_t begin_;
  ByteRange bytes_;
};

class HugePagesTest : public testing::TestWithParam<HeldPages::Source> {
 protected:
  HeldPages held_{GetParam()};
  HugePages huge_{held_, Setting::all};
};

TEST_P(HugePagesTest, memory_in_huge_pages_is_found) {
  const Extents memory(2, MADV_HUGEPAGE);
  memory.touch();
  if (memory.huge_kb() == 0) GTEST_SKIP() << "the kernel gives no huge pages";
  EXPECT_TRUE(huge_.hold(memory.mapping(), memory.bytes()));
  EXPECT_TRUE(huge_.hold(memory.mapping(), {memory.bytes().begin + 5000, memory.bytes().begin + 6000}));
}

TEST_P(HugePagesTest, memory_in_small_pages_is_not) {
  const Extents memory(2, MADV_NOHUGEPAGE);
  memory.touch();
  EXPECT_FALSE(huge_.hold(memory.mapping(), memory.bytes()));
}

TEST_P(HugePagesTest, what_was_never_touched_is_where_everything_becomes_huge) {
  const Extents memory(2, MADV_NOHUGEPAGE);
  EXPECT_TRUE(huge_.hold(memory.mapping(), memory.bytes()));
  EXPECT_FALSE(HugePages(held_, Setting::advised).hold(memory.mapping(), memory.bytes()));
  EXPECT_FALSE(HugePages(held_, Setting::none).hold(memory.mapping(), memory.bytes()));
}

TEST_P(HugePagesTest, memory_of_which_the_program_wants_huge_pages_is) {
  const Extents memory(2, MADV_NOHUGEPAGE);
  memory.touch();
  HugePages huge(held_, Setting::advised);
  kept_memory::note(memory.bytes(), kept_memory::Keeper::huge);
  EXPECT_TRUE(huge.hold(memory.mapping(), memory.bytes()));
  kept_memory::forget(memory.bytes(), kept_memory::Keeper::huge);
  EXPECT_FALSE(huge.hold(memory.mapping(), memory.bytes()));
}

TEST_P(HugePagesTest, an_extent_of_several_mappings_cannot_be_one) {
  const Extents memory(1, MADV_NOHUGEPAGE);
  ProcessMapping mapping = memory.mapping();
  mapping.bytes.end -= page_bytes;
  EXPECT_FALSE(huge_.hold(mapping, mapping.bytes));
}

TEST_P(HugePagesTest, mappings_of_files_are_not) {
  const Extents memory(1, MADV_NOHUGEPAGE);
  ProcessMapping mapping = memory.mapping();
  mapping.inode = 7;
  EXPECT_FALSE(huge_.hold(mapping, mapping.bytes));
}

INSTANTIATE_TEST_SUITE_P(Sources, HugePagesTest, testing::Values(HeldPages::Source::best, HeldPages::Source::words));

TEST(HugePagesInArenaTest, are_left_whole) {
  const Extents memory(3, MADV_HUGEPAGE);
  memory.touch();
  const long before_kb = memory.huge_kb();
  if (before_kb == 0) GTEST_SKIP() << "the kernel gives no huge pages";
  AliasArena arena(plenty_of_mappings, {}, true);
  EXPECT_EQ(arena.migrate(memory.bytes()), Ineligible::huge);
  EXPECT_EQ(arena.migrate({memory.bytes().begin + 5 * page_bytes, memory.bytes().begin + 9 * page_bytes}), Ineligible::huge);
  EXPECT_EQ(memory.huge_kb(), before_kb);
}

TEST(HugePagesInArenaTest, become_blocks_where_they_may_be_replaced) {
  const Extents memory(2, MADV_HUGEPAGE);
  memory.touch();
  AliasArena arena(plenty_of_mappings);
  EXPECT_EQ(arena.migrate(memory.bytes()), Ineligible::none);
}

TEST(HugePagesSettingTest, is_read_from_the_kernels_words) {
  EXPECT_EQ(HugePages::parse("always madvise [never]\n", "", 0), Setting::none);
  EXPECT_EQ(HugePages::parse("always [madvise] never\n", "", 0), Setting::advised);
  EXPECT_EQ(HugePages::parse("[always] madvise never\n", "", 0), Setting::all);
}

TEST(HugePagesSettingTest, of_the_size_goes_before_that_of_all_sizes) {
  EXPECT_EQ(HugePages::parse("[always] madvise never\n", "always inherit madvise [never]\n", 0), Setting::none);
  EXPECT_EQ(HugePages::parse("always madvise [never]\n", "[always] inherit madvise never\n", 0), Setting::all);
  EXPECT_EQ(HugePages::parse("always [madvise] never\n", "always [inherit] madvise never\n", 0), Setting::advised);
}

TEST(HugePagesSettingTest, of_the_process_goes_before_all) {
  constexpr int disabled = 1;
  constexpr int disabled_except_advised = 3;
  EXPECT_EQ(HugePages::parse("[always] madvise never\n", "", disabled), Setting::none);
  EXPECT_EQ(HugePages::parse("[always] madvise never\n", "", disabled_except_advised), Setting::advised);
}

TEST(HugePagesSettingTest, that_cannot_be_read_is_taken_for_the_one_that_heeds_advice) {
  EXPECT_EQ(HugePages::parse("", "", 0), Setting::advised);
}

TEST(HugePagesExtentsTest, are_those_wholly_inside_the_mapping) {
  const auto extents = [](std::uintptr_t begin, std::uintptr_t end, ByteRange part) {
    const PageRange found = HugePages::extents_inside({begin * segment_bytes + page_bytes, end * segment_bytes}, part);
    return std::pair(found.begin / segment_pages, found.end / segment_pages);
  };
  EXPECT_EQ(extents(1, 4, {5000 * page_bytes, 5000 * page_bytes}), std::pair(0UL, 0UL));
  EXPECT_EQ(extents(1, 4, {segment_bytes + page_bytes, 2 * segment_bytes + 1}), std::pair(2UL, 3UL));
  EXPECT_EQ(extents(1, 4, {segment_bytes + page_bytes, 2 * segment_bytes}), std::pair(0UL, 0UL));
  EXPECT_EQ(extents(1, 4, {2 * segment_bytes, 4 * segment_bytes}), std::pair(2UL, 4UL));
}

TEST(HugePagesInTextTest, are_those_of_mappings_in_the_range) {
  const std::string name = testing::TempDir() + "smaps";
  std::ofstream(name) << "1000-5000 rw-p 00000000 00:00 0    /a/" << std::string(300, 'x')
                      << "\nRss: 9 kB\nAnonHugePages:      2048 kB\n"
                      << "VmFlags: rd wr\n5000-9000 rw-p 00000000 00:00 0\nAnonHugePages:      4096 kB\n";
  EXPECT_EQ(huge_kb_in(name.c_str(), {0x2000, 0x3000}), 2048);
  EXPECT_EQ(huge_kb_in(name.c_str(), {0x4000, 0x6000}), 6144);
  EXPECT_EQ(huge_kb_in(name.c_str(), {0x9000, 0xa000}), 0);
  EXPECT_EQ(huge_kb_in((name + "-not-there").c_str(), {0x1000, 0x2000}), -1);
  std::remove(name.c_str());
}

}  // namespace
}  // namespace sluice
