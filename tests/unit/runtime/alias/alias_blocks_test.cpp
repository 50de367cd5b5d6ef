// Which buffers become alias blocks, and when: a real arena, and fakes of all others who use the program's memory.

#include "runtime/alias/alias_blocks.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <mutex>

#include "runtime/alias/memory_moves.hpp"
#include "tests/unit/support/arena_fixture.hpp"
#include "tests/unit/support/patterned_memory.hpp"

namespace sluice {
namespace {

struct FakeOthers final : AliasBlocks::Others {
  [[nodiscard]] bool holds_writers_up() const override { return holds; }
  [[nodiscard]] bool guards(ByteRange bytes) const override { return guarded.overlaps(bytes); }
  [[nodiscard]] bool pins(PageRange pages) const override { return pinned.overlaps(pages); }
  [[nodiscard]] bool are_written_by_peers(PageRange pages) const override { return written.overlaps(pages); }
  [[nodiscard]] bool may_reach_memory() const override {
    said_so = MemoryMoves::any();
    return reaches;
  }
  void hold_signals() override { ++held; }
  void tell_trace() override {}

  bool holds = true;
  bool reaches = false;
  ByteRange guarded;
  PageRange pinned;
  PageRange written;
  int held = 0;
  mutable bool said_so = false;  // that pages may move, when the host was asked
};

class AliasBlocksTest : public AliasArenaTest {
 protected:
  /// How many uses it takes until the buffer is a block.
  int uses_until_block(ByteRange buffer, int max_uses = 20) {
    for (int use = 1; use <= max_uses; ++use) {
      if (blocks_.use(buffer)) return use;
    }
    return max_uses + 1;
  }

  FakeOthers others_;
  AliasBlocks blocks_{&arena_, others_};
  Memory memory_{8};
};

constexpr int uses_needed = static_cast<int>(BufferHistory::uses_to_earn_a_block);

TEST_F(AliasBlocksTest, a_buffer_becomes_a_block_when_it_has_been_used_often_enough) {
  EXPECT_EQ(uses_until_block(memory_.range()), uses_needed);
  EXPECT_TRUE(blocks_.is_live(memory_.range()));
  EXPECT_EQ(others_.held, 1) << "signals wait while pages are replaced";
  EXPECT_TRUE(memory_.intact());
}

TEST_F(AliasBlocksTest, a_block_goes_on_being_one_with_each_use) {
  ASSERT_TRUE(blocks_.make(memory_.range()));
  EXPECT_TRUE(blocks_.use(memory_.range()));
  EXPECT_EQ(others_.held, 0);
}

TEST_F(AliasBlocksTest, without_an_arena_nothing_is_a_block) {
  AliasBlocks none(nullptr, others_);
  for (int use = 0; use < 2 * uses_needed; ++use) EXPECT_FALSE(none.use(memory_.range()));
  EXPECT_FALSE(none.usable());
  EXPECT_FALSE(none.is_live(memory_.range()));
}

TEST_F(AliasBlocksTest, memory_that_an_adapter_knows_is_not_counted) {
  others_.pinned = PageRange::covering(memory_.range());
  for (int use = 0; use < 2 * uses_needed; ++use) EXPECT_FALSE(blocks_.use(memory_.range()));
  others_.pinned = {};
  EXPECT_EQ(uses_until_block(memory_.range()), uses_needed);
}

TEST_F(AliasBlocksTest, pages_that_peers_write_to_are_not_replaced) {
  const PageRange pages = PageRange::covering(memory_.range());
  others_.written = {pages.end - 1, pages.end};
  EXPECT_FALSE(blocks_.make(memory_.range()));
  EXPECT_EQ(uses_until_block(memory_.range(), uses_needed), uses_needed + 1);
  EXPECT_FALSE(blocks_.hold_some_of(memory_.range()));
  others_.written = {};
  EXPECT_EQ(uses_until_block(memory_.range()), uses_needed);
}

TEST_F(AliasBlocksTest, one_page_that_is_a_block_is_some_of_it) {
  EXPECT_FALSE(blocks_.hold_some_of(memory_.range()));
  const std::uintptr_t begin = memory_.range().begin;
  ASSERT_TRUE(blocks_.make({begin, begin + page_bytes}));
  EXPECT_TRUE(blocks_.hold_some_of(memory_.range()));
  EXPECT_FALSE(blocks_.hold_some_of({begin + page_bytes, begin + 2 * page_bytes}));
  void* const page = reinterpret_cast<void*>(begin);
  ASSERT_EQ(mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), page);
  EXPECT_FALSE(blocks_.hold_some_of(memory_.range())) << "something else is there now";
}

TEST_F(AliasBlocksTest, while_the_host_may_reach_memory_a_block_waits_for_the_next_use) {
  others_.reaches = true;
  EXPECT_EQ(uses_until_block(memory_.range(), 2 * uses_needed), 2 * uses_needed + 1);
  others_.reaches = false;
  EXPECT_EQ(uses_until_block(memory_.range()), 1);
}

TEST_F(AliasBlocksTest, while_writers_are_not_held_up_a_block_waits_for_the_next_use) {
  others_.holds = false;
  EXPECT_EQ(uses_until_block(memory_.range(), uses_needed), uses_needed + 1);
  EXPECT_FALSE(blocks_.make(memory_.range()));
  others_.holds = true;
  EXPECT_EQ(uses_until_block(memory_.range()), 1);
}

TEST_F(AliasBlocksTest, the_host_is_asked_after_it_was_said_that_pages_move) {
  ASSERT_TRUE(blocks_.make(memory_.range()));
  EXPECT_TRUE(others_.said_so);
  EXPECT_FALSE(MemoryMoves::any());
}

TEST_F(AliasBlocksTest, memory_that_took_the_place_of_a_guarded_buffer_is_left_alone) {
  ASSERT_TRUE(blocks_.make(memory_.range()));
  others_.guarded = memory_.range();
  EXPECT_TRUE(blocks_.make(memory_.range())) << "it is in place";
  void* const pages = memory_.start() + 2 * page_bytes;
  ASSERT_EQ(mmap(pages, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), pages);
  EXPECT_FALSE(blocks_.make(memory_.range()));
  others_.guarded = {};
  EXPECT_TRUE(blocks_.make(memory_.range()));
}

TEST_F(AliasBlocksTest, a_short_message_is_not_offered_and_a_long_one_earns_its_block) {
  const ByteRange bytes = memory_.range();
  const ByteRange few{bytes.begin, bytes.begin + AliasBlocks::min_offered_bytes - 1};
  for (int use = 0; use < 2 * uses_needed; ++use) EXPECT_FALSE(blocks_.offer(few));
  for (int use = 1; use < uses_needed; ++use) EXPECT_FALSE(blocks_.offer(bytes));
  EXPECT_TRUE(blocks_.offer(bytes));
}

TEST_F(AliasBlocksTest, what_has_waited_for_long_has_earned_its_block) {
  blocks_.earn(memory_.range());
  EXPECT_EQ(uses_until_block(memory_.range()), 1);
}

TEST_F(AliasBlocksTest, every_address_of_a_block_is_as_far_from_its_alias) {
  ASSERT_TRUE(blocks_.make(memory_.range()));
  const std::ptrdiff_t distance = blocks_.distance(memory_.range());
  std::byte* const last = memory_.start() + memory_.size() - 1;
  EXPECT_EQ(last + distance, blocks_.alias(reinterpret_cast<std::uintptr_t>(last)));
  *last = std::byte{0x5a};
  EXPECT_EQ(last[distance], std::byte{0x5a});
}

TEST_F(AliasBlocksTest, when_the_address_space_is_limited_blocks_end) {
  ASSERT_TRUE(blocks_.make(memory_.range()));
  EXPECT_FALSE(blocks_.are_to_end());
  blocks_.let_end();
  EXPECT_TRUE(blocks_.are_to_end());
  EXPECT_FALSE(blocks_.have_ended());
  blocks_.end();
  EXPECT_FALSE(blocks_.are_to_end());
  EXPECT_TRUE(blocks_.have_ended());
  EXPECT_TRUE(memory_.intact());
  EXPECT_FALSE(blocks_.is_live(memory_.range()));
  EXPECT_FALSE(blocks_.make(memory_.range()));
}

struct CountingMutex {
  void lock() {
    mutex.lock();
    ++locks;
  }
  void unlock() { mutex.unlock(); }

  std::mutex mutex;
  int locks = 0;
};

TEST_F(AliasBlocksTest, a_sweep_finds_what_was_freed_and_takes_the_lock_for_each_segment) {
  CountingMutex mutex;
  ASSERT_TRUE(blocks_.make(memory_.range()));
  EXPECT_EQ(blocks_.sweep(mutex), memory_.size());
  EXPECT_EQ(mutex.locks, 2);  // for the look, and for the look for something to return
  munmap(memory_.start(), memory_.size());
  EXPECT_EQ(blocks_.sweep(mutex), 0u);
  EXPECT_TRUE(mutex.mutex.try_lock()) << "it was left locked";
  mutex.mutex.unlock();
}

}  // namespace
}  // namespace sluice
