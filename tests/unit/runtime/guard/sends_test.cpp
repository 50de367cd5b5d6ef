// Pages of released sends: readers go on, writers wait; and pages that belong to sends and receives at once.

#include <gtest/gtest.h>

#include <string>

#include "runtime/guard/choice.hpp"
#include "runtime/guard/page_guard.hpp"
#include "tests/unit/support/guarded_block.hpp"

namespace sluice {
namespace {

class PageGuardSendsTest : public GuardedByEach {
 protected:
  void SetUp() override {
    GuardedByEach::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(guard_.engine(), GetParam());
  }
  Guarded* protect_send(ByteRange buffer) { return guard_.protect(buffer, 0, KeptOut::writers); }

  PageGuard guard_{waiter_, &arena_, GetParam()};
};

bool readable(const volatile unsigned char& byte) {
  ProcessMapping mapping;
  const auto address = reinterpret_cast<std::uintptr_t>(&byte);
  return ProcessMaps().find(address, mapping) && mapping.readable && (!mapping.shared || present(address));
}

TEST_P(PageGuardSendsTest, readers_go_on) {
  const Block block(arena_, 4);
  block.page(2) = 9;
  Guarded* send = protect_send(block.range());
  ASSERT_NE(send, nullptr);
  EXPECT_EQ(block.page(2), 9);
  EXPECT_EQ(waiter_.steps, 0u);
  EXPECT_EQ(PageGuard::first_touch_after(*send), 0u);
  guard_.finish(send);
}

TEST_P(PageGuardSendsTest, a_writer_waits_until_its_page_is_sent) {
  const Block block(arena_, 4);
  block.page(2) = 9;
  Guarded* send = protect_send(block.range());
  unsigned char seen = 0;
  waiter_.step = [&](unsigned attempt) {
    if (attempt < 3) return;
    seen = static_cast<unsigned char>(*arena_.alias(block.pages(2, 3).begin));
    guard_.open(*send, 3 * page_bytes);
  };
  block.page(2) = 10;
  EXPECT_EQ(waiter_.steps, 4u);
  EXPECT_EQ(seen, 9);
  EXPECT_EQ(block.page(2), 10);
  EXPECT_GT(PageGuard::first_touch_after(*send), 0u);
  EXPECT_TRUE(accessible(block.page(0)));
  EXPECT_FALSE(accessible(block.page(3)));
  guard_.finish(send);
  EXPECT_TRUE(accessible(block.page(3)));
}

TEST_P(PageGuardSendsTest, a_page_of_two_sends_is_writable_after_the_last_of_them) {
  const Block block(arena_, 3);
  Guarded* one = protect_send(block.pages(0, 2));
  Guarded* other = protect_send(block.pages(1, 3));
  guard_.finish(one);
  EXPECT_TRUE(accessible(block.page(0)));
  EXPECT_FALSE(accessible(block.page(1)));
  guard_.finish(other);
  EXPECT_TRUE(accessible(block.page(1)));
}

TEST_P(PageGuardSendsTest, a_page_of_a_send_and_a_receive_is_closed_by_the_receive_first) {
  const Block block(arena_, 3);
  Guarded* send = protect_send(block.pages(0, 2));
  Guarded* receive = guard_.protect(block.pages(1, 3), 0);
  EXPECT_TRUE(readable(block.page(0)));
  EXPECT_FALSE(readable(block.page(1)));

  guard_.finish(receive);
  EXPECT_TRUE(readable(block.page(1)));
  EXPECT_FALSE(accessible(block.page(1)));
  EXPECT_TRUE(accessible(block.page(2)));

  guard_.finish(send);
  EXPECT_TRUE(accessible(block.page(1)));
}

TEST_P(PageGuardSendsTest, a_page_of_a_receive_stays_closed_when_its_send_is_done) {
  const Block block(arena_, 3);
  Guarded* receive = guard_.protect(block.pages(1, 3), 0);
  Guarded* send = protect_send(block.pages(0, 2));
  EXPECT_FALSE(readable(block.page(1)));
  guard_.finish(send);
  EXPECT_TRUE(accessible(block.page(0)));
  EXPECT_FALSE(readable(block.page(1)));
  guard_.finish(receive);
  EXPECT_TRUE(accessible(block.page(1)));
}

TEST_P(PageGuardSendsTest, a_writer_to_a_page_of_both_waits_for_both_and_a_reader_for_the_receive) {
  const Block block(arena_, 2);
  Guarded* send = protect_send(block.range());
  // Of the thread that faults and of the one that answers it, which may still be in a step when the page is open.
  struct State {
    std::atomic<Guarded*> receive;
    std::atomic<Guarded*> send = nullptr;
  };
  const auto state = std::make_shared<State>();
  state->receive = guard_.protect(block.range(), 0);
  waiter_.step = [this, state, range = block.range(), deliver = [&block] { block.deliver(block.range(), 42); }](unsigned) {
    if (Guarded* receive = state->receive.exchange(nullptr)) {
      deliver();
      guard_.finish(receive);
    } else if (Guarded* opened = state->send.exchange(nullptr)) {
      guard_.open(*opened, range.size());
    }
  };
  EXPECT_EQ(block.page(1), 42);
  state->send = send;
  block.page(1) = 7;
  EXPECT_EQ(block.page(1), 7);
  EXPECT_TRUE(accessible(block.page(0)));
  guard_.finish(send);
}

TEST_P(PageGuardSendsTest, memory_that_took_the_place_of_a_send_buffer_is_left_alone) {
  const Block block(arena_, 4);
  Guarded* send = protect_send(block.range());
  void* start = reinterpret_cast<void*>(block.range().begin);
  ASSERT_EQ(mmap(start, block.range().size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), start);
  guard_.finish(send);
  EXPECT_FALSE(accessible(block.page(1)));
}

INSTANTIATE_TEST_SUITE_P(engines, PageGuardSendsTest, both_engines, name_of_engine);

}  // namespace
}  // namespace sluice
