// Which memory released operations keep from the program.

#include "runtime/release/released_memory.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/guarded_block.hpp"

namespace sluice {
namespace {

struct NoSink final : Causality::Sink {
  void send_held(Request&) override {}
  void begin_held(Request&) override {}
  void acknowledge_held(Peer, std::uint64_t, std::uint32_t) override {}
};

class ReleasedMemoryTest : public testing::Test {
 protected:
  void release(Request& request, Request::Kind kind, ByteRange bytes) {
    request.kind = kind;
    request.data = reinterpret_cast<std::byte*>(bytes.begin);
    request.bytes = bytes.size();
    causality_.add(request);
  }

  NoSink sink_;
  Causality causality_{sink_};
  ReleasedMemory memory_{causality_};
  Request receive_;
  Request send_;
};

constexpr ByteRange low{0x10000, 0x20000};
constexpr ByteRange high{0x30000, 0x40000};
constexpr ByteRange last_of_high{0x3ffff, 0x50000};
constexpr ByteRange behind_high{0x40000, 0x50000};

TEST_F(ReleasedMemoryTest, a_receive_keeps_from_reading_and_writing) {
  release(receive_, Request::Kind::receive, high);
  EXPECT_TRUE(memory_.keeps_from(last_of_high, Access::read));
  EXPECT_TRUE(memory_.keeps_from(last_of_high, Access::write));
  EXPECT_FALSE(memory_.keeps_from(behind_high, Access::write));
  EXPECT_FALSE(memory_.keeps_from(low, Access::write));
}

TEST_F(ReleasedMemoryTest, a_send_keeps_from_writing_only) {
  release(send_, Request::Kind::send, low);
  EXPECT_FALSE(memory_.keeps_from(low, Access::read));
  EXPECT_TRUE(memory_.keeps_from(low, Access::write));
}

TEST_F(ReleasedMemoryTest, what_is_over_keeps_from_nothing) {
  release(receive_, Request::Kind::receive, high);
  causality_.remove(receive_);
  EXPECT_FALSE(memory_.keeps_from(high, Access::write));
}

TEST_F(ReleasedMemoryTest, data_moves_once_the_message_of_a_receive_is_known) {
  release(send_, Request::Kind::send, low);
  EXPECT_FALSE(memory_.data_is_moving());
  receive_.unknown = true;
  release(receive_, Request::Kind::receive, high);
  EXPECT_FALSE(memory_.data_is_moving());
  receive_.unknown = false;
  EXPECT_TRUE(memory_.data_is_moving());
}

TEST_F(ReleasedMemoryTest, a_send_whose_buffer_is_to_be_written_to_hides_no_more) {
  AliasArena arena(10000);
  Waiter waiter;
  PageGuard guard(waiter, &arena);
  const Block block(arena, 4);
  send_.guarded = guard.protect(block.range(), 0, KeptOut::writers);
  ASSERT_NE(send_.guarded, nullptr);
  release(send_, Request::Kind::send, block.range());
  memory_.note_need(block.range(), Access::read);
  memory_.note_need(low, Access::write);
  EXPECT_EQ(PageGuard::first_touch_after(*send_.guarded), 0u);
  memory_.note_need(block.pages(3, 4), Access::write);
  EXPECT_NE(PageGuard::first_touch_after(*send_.guarded), 0u);
  guard.finish(send_.guarded);
}

using Reach = HostNeeds::Reach;

TEST_F(ReleasedMemoryTest, a_call_that_communicates_waits_for_every_message_to_be_known) {
  receive_.unknown = true;
  release(receive_, Request::Kind::receive, high);
  EXPECT_FALSE(memory_.keeps_from(HostNeeds(Reach::local)));
  EXPECT_TRUE(memory_.keeps_from(HostNeeds(Reach::copied)));
  receive_.unknown = false;
  EXPECT_FALSE(memory_.keeps_from(HostNeeds(Reach::copied)));
  EXPECT_TRUE(memory_.keeps_from(HostNeeds(Reach::everything)));
}

TEST_F(ReleasedMemoryTest, a_call_waits_for_its_own_buffers) {
  release(receive_, Request::Kind::receive, high);
  EXPECT_TRUE(memory_.keeps_from(HostNeeds(Reach::local).reads(last_of_high)));
  EXPECT_TRUE(memory_.keeps_from(HostNeeds(Reach::copied).reads(low).writes(last_of_high)));
  EXPECT_FALSE(memory_.keeps_from(HostNeeds(Reach::copied).reads(low).writes(behind_high)));
  EXPECT_TRUE(memory_.keeps_from(HostNeeds(Reach::copied).reads(low).reads(low).reads(behind_high))) << "one too many";
}

TEST_F(ReleasedMemoryTest, a_call_that_communicates_waits_for_released_sends) {
  release(send_, Request::Kind::send, high);
  EXPECT_FALSE(memory_.keeps_from(HostNeeds(Reach::local).reads(high)));
  EXPECT_TRUE(memory_.keeps_from(HostNeeds(Reach::local).writes(high)));
  EXPECT_TRUE(memory_.keeps_from(HostNeeds(Reach::copied)));
}

}  // namespace
}  // namespace sluice
