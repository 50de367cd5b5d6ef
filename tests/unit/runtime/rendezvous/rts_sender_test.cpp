// Announcements: what they offer, and what they bring along.

#include "runtime/rendezvous/rts_sender.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/base/clock.hpp"
#include "tests/unit/support/guarded_block.hpp"
#include "tests/unit/support/node_fakes.hpp"
#include "tests/unit/support/ways_together.hpp"

namespace sluice {
namespace {

constexpr Peer there{1};
constexpr std::size_t bytes = 20 * page_bytes;

/// A node that may stream to its peers as well.
class StreamingNode final : public FakeNodeMemory {
 public:
  bool streams = false;
  [[nodiscard]] std::size_t max_payload(Peer) const override { return 16384; }
  [[nodiscard]] bool streams_directly(Peer) const override { return streams; }
};

class RtsSenderTest : public testing::Test {
 protected:
  Request& announce(std::span<std::byte> data) {
    Request& send = below_.request(Request::Kind::send, there, data);
    below_.rts_sender.send(send);
    return send;
  }
  [[nodiscard]] const RecordingTransport::Sent& rts() const { return below_.sent.sent.back(); }
  [[nodiscard]] ReadyToSend offered() const { return below_.last<ReadyToSend>(MessageKind::rts); }

  AliasArena arena_{10000};
  Block block_{arena_, bytes / page_bytes};
  StreamingNode node_;
  WaysTogether below_{node_, {}, &arena_};
  std::vector<std::byte> data_ = std::vector<std::byte>(bytes, std::byte{7});
};

TEST_F(RtsSenderTest, a_block_is_offered_by_its_address) {
  const std::span block(reinterpret_cast<std::byte*>(block_.range().begin), bytes);
  Request& send = announce(block);
  EXPECT_EQ(rts().header.kind, MessageKind::rts);
  EXPECT_EQ(rts().header.flags, flag_contiguous | flag_block);
  EXPECT_EQ(offered().message_bytes, bytes);
  EXPECT_EQ(offered().sender_address, block_.range().begin);
  EXPECT_EQ(offered().sender_request, static_cast<std::uint64_t>(send.id));
  EXPECT_TRUE(send.offered);
  EXPECT_EQ(send.expects, Request::Expects::clearance);
  EXPECT_EQ(below_.small_sends.numbers()[1].sent, 1u);
  EXPECT_EQ(below_.requests.counts().large_sends, 1u);
}

TEST_F(RtsSenderTest, any_other_buffer_is_offered_to_be_read_by_the_kernel) {
  node_.blocks_readable = false;
  const Request& send = announce(data_);
  EXPECT_EQ(rts().header.flags, flag_contiguous);
  EXPECT_EQ(offered().sender_address, reinterpret_cast<std::uint64_t>(data_.data()));
  EXPECT_FALSE(send.offered);
}

TEST_F(RtsSenderTest, it_says_whether_it_could_write_by_address) {
  EXPECT_FALSE(announce(data_).offers_write);
  EXPECT_EQ(rts().header.flags & flag_writes_at, 0);
  node_.writable_at = true;
  EXPECT_TRUE(announce(data_).offers_write);
  EXPECT_NE(rts().header.flags & flag_writes_at, 0);
}

TEST_F(RtsSenderTest, it_says_how_the_call_waits) {
  Request& blocking = below_.request(Request::Kind::send, there, data_);
  blocking.call_waits = true;
  below_.rts_sender.send(blocking);
  EXPECT_NE(rts().header.flags & flag_sender_waits, 0);
  Request& buffered = below_.request(Request::Kind::send, there, data_);
  buffered.owned = std::make_unique<std::byte[]>(bytes);
  below_.rts_sender.send(buffered);
  EXPECT_NE(rts().header.flags & flag_buffered, 0);
}

TEST_F(RtsSenderTest, over_a_stream_it_brings_the_first_bytes) {
  node_.streams = true;
  Request& send = announce(data_);
  const std::size_t brought = rts().payload.size() - sizeof(ReadyToSend);
  EXPECT_EQ(brought, node_.max_payload(there) - sizeof(ReadyToSend));
  EXPECT_EQ(send.brought, brought);
  EXPECT_EQ(send.offset, brought);
  EXPECT_NE(send.rts_left_at, 0u);
  below_.rts_sender.note_answer(send);
  EXPECT_EQ(send.rts_left_at, 0u);
}

TEST_F(RtsSenderTest, behind_what_is_queued_it_brings_nothing) {
  node_.streams = true;
  below_.sent.is_full = true;
  below_.outbox.send_control(there, MessageKind::fin, 1);
  const Request& send = announce(data_);
  EXPECT_EQ(send.brought, 0u);
  EXPECT_EQ(below_.outbox.queued(), 2u);
}

TEST_F(RtsSenderTest, while_answers_are_slow_messages_are_brought_whole) {
  node_.streams = true;
  for (int i = 0; i < 8; ++i) {
    Request& send = announce(std::span(data_).first(bytes));
    send.rts_left_at = now_ns() - 10 * AnnouncementBudget::slow_ns;
    below_.rts_sender.note_answer(send);
  }
  const Request& send = announce(std::span(data_).first(10'000));
  EXPECT_EQ(send.brought, 10'000u);
  EXPECT_EQ(below_.requests.counts().left_sends, 1u);
}

}  // namespace
}  // namespace sluice
