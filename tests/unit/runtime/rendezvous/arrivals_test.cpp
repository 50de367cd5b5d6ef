// What arrives goes to who has to do with it.

#include "runtime/rendezvous/arrivals.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/support/node_fakes.hpp"
#include "tests/unit/support/ways_together.hpp"

namespace sluice {
namespace {

constexpr Peer there{1};
constexpr std::size_t bytes = 100;

class ArrivalsTest : public testing::Test {
 protected:
  Request& post() {
    Request& made = below_.request(Request::Kind::receive, there, got_);
    below_.requests.enter(made);
    below_.matcher.post(made);
    return made;
  }
  static WireHeader header_of(MessageKind kind, std::size_t payload_bytes) {
    WireHeader header;
    header.kind = kind;
    header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
    header.subject = 1;
    header.source = Rank{1};
    header.tag = Tag{3};
    return header;
  }

  FakeNodeMemory node_;
  WaysTogether below_{node_};
  Arrivals arrivals_{{below_.put_receiver, below_.matcher, below_.application, below_.requests, below_.outbox, below_.put_sender,
                      below_.replies, below_.transfers, below_.offload, below_.stream_way, below_.rdma_way}};
  std::vector<std::byte> data_ = std::vector<std::byte>(bytes, std::byte{7});
  std::vector<std::byte> got_ = std::vector<std::byte>(bytes);
};

TEST_F(ArrivalsTest, messages_that_take_part_in_matching_are_counted_and_matched) {
  Request& small = post();
  arrivals_.on_message(there, header_of(MessageKind::eager, bytes), data_);
  EXPECT_TRUE(small.complete);
  Request& large = post();
  const ReadyToSend rts{.message_bytes = bytes};
  arrivals_.on_message(there, header_of(MessageKind::rts, sizeof rts), std::as_bytes(std::span(&rts, 1)));
  EXPECT_TRUE(large.matched);
  EXPECT_EQ(below_.above.begun.size(), 1u);
  EXPECT_EQ(below_.small_sends.numbers()[1].arrived, 2u);
}

TEST_F(ArrivalsTest, the_end_of_a_send_tells_of_announcements_to_come) {
  for (const std::uint8_t flags : {std::uint8_t{0}, flag_announces}) {
    Request& send = below_.request(Request::Kind::send, there, data_);
    send.expects = Request::Expects::clearance;
    WireHeader header = header_of(MessageKind::fin, 0);
    header.subject = static_cast<std::uint64_t>(send.id);
    header.flags = flags;
    arrivals_.on_message(there, header, {});
    EXPECT_EQ(below_.put_sender.expects_rtrs(), flags != 0);
  }
}

TEST_F(ArrivalsTest, what_is_no_message_of_the_programs_is_not_counted) {
  Request& send = below_.request(Request::Kind::send, there, data_);
  send.mode = SendMode::synchronous;
  below_.sender.start(&send);
  WireHeader header;
  header.kind = MessageKind::ack;
  header.subject = static_cast<std::uint64_t>(send.id);
  arrivals_.on_message(there, header, {});
  EXPECT_TRUE(send.complete);
  EXPECT_EQ(below_.small_sends.numbers()[1].arrived, 0u);
}

TEST_F(ArrivalsTest, receives_announced_by_the_peer_and_their_withdrawal_are_the_senders) {
  const ReadyToReceive ready{.receiver_request = 5, .address = 4096, .capacity = bytes, .seen = 0};
  arrivals_.on_message(there, header_of(MessageKind::rtr, sizeof ready), std::as_bytes(std::span(&ready, 1)));
  EXPECT_FALSE(below_.small_sends.numbers()[1].plain());
  WireHeader header;
  header.kind = MessageKind::withdraw;
  header.subject = 5;
  arrivals_.on_message(there, header, {});
  EXPECT_TRUE(below_.small_sends.numbers()[1].plain());
  EXPECT_EQ(below_.sent.sent.back().header.kind, MessageKind::withdrawn);
}

TEST_F(ArrivalsTest, another_message_is_taken_where_many_are_awaited_and_one_is_open) {
  EXPECT_FALSE(arrivals_.takes_another());
  below_.application.awaits_many = true;
  EXPECT_FALSE(arrivals_.takes_another());
  post();
  EXPECT_TRUE(arrivals_.takes_another());
}

TEST_F(ArrivalsTest, room_lets_out_what_is_queued) {
  below_.sent.is_full = true;
  below_.outbox.send_control(there, MessageKind::fin, 1);
  below_.sent.is_full = false;
  arrivals_.on_room(there);
  EXPECT_EQ(below_.sent.sent.size(), 1u);
}

}  // namespace
}  // namespace sluice
