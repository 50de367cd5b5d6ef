// Who uses the program's memory, and what follows for pages that are to be replaced or read by the kernel.

#include "runtime/engine/memory_users.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/engine_below.hpp"
#include "tests/unit/support/guarded_block.hpp"
#include "tests/unit/support/node_fakes.hpp"

namespace sluice {
namespace {

class MemoryUsersTest : public testing::Test {
 protected:
  AliasArena arena_{10000};
  Block block_{arena_, 4};
  Waiter waiter_;
  PageGuard guard_{waiter_, &arena_, GuardEngine::mprotect};
  FakeNodeMemory node_;
  EngineBelow below_{Peer{0}, node_, {}, &arena_};
  MemoryUsers& users_ = below_.users;
};

TEST_F(MemoryUsersTest, without_a_guard_nothing_is_closed_and_nobody_waits) {
  EXPECT_FALSE(users_.may_be_closed());
  EXPECT_FALSE(users_.guards(block_.range()));
  EXPECT_FALSE(users_.kernel_waits(below_.blocks));
  EXPECT_TRUE(users_.holds_writers_up());
}

TEST_F(MemoryUsersTest, what_is_protected_is_under_guard) {
  users_.set_guard(&guard_);
  EXPECT_TRUE(users_.may_be_closed());
  EXPECT_FALSE(users_.guards(block_.range()));
  Guarded* const guarded = guard_.protect(block_.range(), 0, KeptOut::everybody);
  EXPECT_TRUE(users_.guards(block_.range()));
  guard_.finish(guarded);
  EXPECT_FALSE(users_.guards(block_.range()));
}

TEST_F(MemoryUsersTest, where_blocks_have_ended_the_kernel_waits_for_no_page) {
  users_.set_guard(&guard_);
  below_.blocks.end();
  EXPECT_FALSE(users_.kernel_waits(below_.blocks));
}

TEST_F(MemoryUsersTest, pages_are_written_by_peers_until_each_of_them_has) {
  const ByteRange all = block_.range();
  const ByteRange first{all.begin + 1, all.begin + page_bytes};
  users_.peers_may_write(all);
  users_.peers_may_write(first);
  EXPECT_TRUE(users_.are_written_by_peers(PageRange::covering(first)));
  users_.peers_have_written(all);
  EXPECT_TRUE(users_.are_written_by_peers(PageRange::covering(all)));
  EXPECT_FALSE(users_.are_written_by_peers(PageRange::covering({all.begin + page_bytes, all.end})));
  users_.peers_have_written(first);
  EXPECT_FALSE(users_.are_written_by_peers(PageRange::covering(all)));
}

TEST_F(MemoryUsersTest, no_adapter_no_pins) { EXPECT_FALSE(users_.pins(PageRange::covering(block_.range()))); }

}  // namespace
}  // namespace sluice
