// What is watched lasts until the end of any of it is told, and no longer; ends of what lies beside it do not count.

#include "runtime/alias/watched_memory.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using watched_memory::lasts;
using watched_memory::note_end;
using watched_memory::Watch;

constexpr std::uintptr_t base = 0x10'0000;

class WatchedMemory : public testing::Test {
 protected:
  ~WatchedMemory() override { watched_memory::forget_everything(); }
};

TEST_F(WatchedMemory, nothing_lasts_that_is_not_watched) {
  EXPECT_FALSE(watched_memory::any());
  EXPECT_FALSE(lasts(Watch()));
}

TEST_F(WatchedMemory, any_part_of_it_ends_it) {
  const ByteRange buffer{base + 100, base + 2 * page_bytes + 10};
  for (const ByteRange part : {ByteRange{base, base + page_bytes}, ByteRange{base + page_bytes, base + 2 * page_bytes},
                               ByteRange{base + 2 * page_bytes, base + 3 * page_bytes}, ByteRange{0, std::uintptr_t{1} << 47}}) {
    const Watch watched = watched_memory::watch(buffer);
    EXPECT_TRUE(lasts(watched));
    note_end(part);
    EXPECT_FALSE(lasts(watched)) << part.begin;
  }
  const Watch watched = watched_memory::watch(buffer);
  watched_memory::note_end_of_everything();
  EXPECT_FALSE(lasts(watched));
}

TEST_F(WatchedMemory, neighbours_in_its_pages_are_not_it) {
  const Watch watched = watched_memory::watch({base + 1000, base + 1400});
  note_end({base, base + 1000});
  note_end({base + 1400, base + 3 * page_bytes});
  note_end({base - page_bytes, base});
  EXPECT_TRUE(lasts(watched));
  note_end({base + 900, base + 1200});
  EXPECT_FALSE(lasts(watched));
}

TEST_F(WatchedMemory, buffers_of_one_page_end_apart) {
  const Watch first = watched_memory::watch({base, base + 512});
  const Watch second = watched_memory::watch({base + 1024, base + 2048});
  EXPECT_TRUE(lasts(first));
  note_end({base + 1024, base + 2048});
  EXPECT_FALSE(lasts(second));
}

TEST_F(WatchedMemory, a_listener_hears_of_the_first_watch_and_when_nobody_asks_any_more) {
  static int begun;
  static int ended;
  begun = ended = 0;
  watched_memory::set_listener([](bool any) { ++(any ? begun : ended); });
  watched_memory::forget_everything();
  EXPECT_EQ(ended, 0) << "nothing was watched";
  const Watch first = watched_memory::watch({base, base + 512});
  const Watch second = watched_memory::watch({base + 1024, base + 2048});
  EXPECT_TRUE(lasts(first) && lasts(second));
  EXPECT_EQ(begun, 1);
  watched_memory::forget_everything();
  EXPECT_EQ(ended, 1);
  watched_memory::set_listener(nullptr);
}

/// 64 MB apart: they have one place in the table.
TEST_F(WatchedMemory, a_page_that_takes_the_place_of_another_ends_what_lies_there) {
  constexpr std::uintptr_t apart = std::uintptr_t{64} << 20;
  const Watch first = watched_memory::watch({base, base + 512});
  const Watch second = watched_memory::watch({base + apart, base + apart + 512});
  EXPECT_FALSE(lasts(first));
  EXPECT_TRUE(lasts(second));
  note_end({base, base + 512});
  EXPECT_TRUE(lasts(second));
}

}  // namespace
}  // namespace sluice
