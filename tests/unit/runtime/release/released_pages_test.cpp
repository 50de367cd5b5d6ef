// Pages of released operations, by either guard: closed, opened as they are in place, and forgotten.

#include "runtime/release/released_pages.hpp"

#include <gtest/gtest.h>

#include "runtime/alias/kept_memory.hpp"
#include "tests/unit/support/guarded_block.hpp"
#include "tests/unit/support/quiet_transport.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

class ReleasedPagesTest : public GuardedByEach {
 protected:
  ReleasedPagesTest() { pages_.make(waiter_); }
  static Config configured(ReleaseMode mode) {
    Config config;
    config.guard = GetParam();
    config.release = mode;
    return config;
  }
  static void describe(Request& request, Request::Kind kind, ByteRange bytes) {
    request.kind = kind;
    request.data = reinterpret_cast<std::byte*>(bytes.begin);
    request.bytes = bytes.size();
  }

  QuietTransport transport_;
  Job job_{one_of_two(Peer{0}, transport_, configured(ReleaseMode::automatic), &arena_)};
  ReleasedPages pages_{job_};
  Request request_;
};
INSTANTIATE_TEST_SUITE_P(Guards, ReleasedPagesTest, both_engines, name_of_engine);

TEST_P(ReleasedPagesTest, a_receive_is_closed_and_opens_from_the_front) {
  ASSERT_TRUE(pages_.may_close());
  ASSERT_EQ(pages_.guard()->engine(), GetParam());
  const Block block(arena_, 8);
  describe(request_, Request::Kind::receive, block.range());
  ASSERT_TRUE(pages_.close_receive(request_));
  EXPECT_FALSE(accessible(block.page(0)));
  request_.offset = 3 * page_bytes + 1;
  pages_.open(request_);
  EXPECT_TRUE(accessible(block.page(2)));
  EXPECT_FALSE(accessible(block.page(3)));
  pages_.finish(request_);
  EXPECT_TRUE(accessible(block.page(7)));
  EXPECT_EQ(request_.guarded, nullptr);
}

TEST_P(ReleasedPagesTest, what_a_message_fills_is_closed_once_it_is_known_and_what_is_there_stays_open) {
  const Block block(arena_, 8);
  describe(request_, Request::Kind::receive, block.range());
  request_.matched = true;
  request_.limit = 6 * page_bytes;
  request_.progress_slot = 0;
  transport_.in_place = 2 * page_bytes;
  ASSERT_TRUE(pages_.close_receive(request_));
  EXPECT_EQ(request_.offset, 2 * page_bytes);
  EXPECT_TRUE(accessible(block.page(1)));
  EXPECT_FALSE(accessible(block.page(2)));
  EXPECT_FALSE(accessible(block.page(5)));
  EXPECT_TRUE(accessible(block.page(6)));
  pages_.finish(request_);
}

TEST_P(ReleasedPagesTest, a_send_may_be_read_and_is_sent_from_its_alias) {
  const Block block(arena_, 4);
  block.page(1) = 7;
  describe(request_, Request::Kind::send, block.range());
  ASSERT_TRUE(pages_.close_send(request_));
  EXPECT_EQ(read(block.page(1)), 7);
  EXPECT_EQ(request_.alias, arena_.alias(block.range().begin));
  pages_.finish(request_);
  block.page(1) = 8;
}

TEST_P(ReleasedPagesTest, memory_that_others_hold_is_not_closed) {
  const Block block(arena_, 4);
  describe(request_, Request::Kind::receive, block.range());
  kept_memory::note(block.pages(2, 3), kept_memory::Keeper::lent);
  EXPECT_FALSE(pages_.close_receive(request_));
  EXPECT_TRUE(accessible(block.page(0)));
  kept_memory::forget(block.pages(2, 3), kept_memory::Keeper::lent);
}

TEST_P(ReleasedPagesTest, where_nothing_is_to_be_released_there_is_a_guard_all_the_same) {
  pages_.end();
  const Job off(one_of_two(Peer{0}, transport_, configured(ReleaseMode::off), &arena_));
  ReleasedPages pages(off);
  EXPECT_EQ(pages.guard(), nullptr);
  pages.make(waiter_);
  EXPECT_NE(pages.guard(), nullptr);
  EXPECT_FALSE(pages.may_close());
}

}  // namespace
}  // namespace sluice
