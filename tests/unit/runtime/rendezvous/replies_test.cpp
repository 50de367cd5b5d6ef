// What comes for one request: who gets it, and what it ends. What cannot be a reply: reply_check_test.cpp.

#include "runtime/rendezvous/replies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/support/node_fakes.hpp"
#include "tests/unit/support/ways_together.hpp"

namespace sluice {
namespace {

constexpr Peer there{1};
constexpr std::size_t bytes = 100;

class RepliesTest : public testing::Test {
 protected:
  void reply(const Request& request, MessageKind kind, std::span<const std::byte> payload = {}, std::uint8_t flags = 0) {
    below_.replies.on_reply(there, header_of(request, kind, flags), payload);
  }
  template <class T>
  void reply(const Request& request, MessageKind kind, const T& value) {
    reply(request, kind, std::as_bytes(std::span(&value, 1)));
  }
  static WireHeader header_of(const Request& request, MessageKind kind, std::uint8_t flags = 0) {
    WireHeader header;
    header.kind = kind;
    header.flags = flags;
    header.subject = static_cast<std::uint64_t>(request.id);
    return header;
  }
  /// Matched, and cleared to be streamed.
  Request& receive() {
    Request& made = below_.request(Request::Kind::receive, there, got_);
    made.limit = made.stop = bytes;
    made.way = Request::Way::stream;
    return made;
  }
  Request& announced() {
    Request& made = below_.request(Request::Kind::send, there, data_);
    below_.rts_sender.send(made);
    return made;
  }

  FakeNodeMemory node_;
  WaysTogether below_{node_};
  std::vector<std::byte> data_ = std::vector<std::byte>(bytes, std::byte{7});
  std::vector<std::byte> got_ = std::vector<std::byte>(bytes);
};

TEST_F(RepliesTest, data_goes_on_where_it_ended_and_the_last_of_it_ends_the_receive) {
  Request& request = receive();
  reply(request, MessageKind::data, std::span<const std::byte>(data_).first(60));
  EXPECT_EQ(request.offset, 60u);
  EXPECT_FALSE(request.complete);
  reply(request, MessageKind::data, std::span<const std::byte>(data_).first(40));
  EXPECT_TRUE(request.complete);
  EXPECT_EQ(got_, data_);
}

TEST_F(RepliesTest, data_may_be_placed_by_who_brings_it) {
  Request& request = receive();
  const WireHeader header = header_of(request, MessageKind::data);
  const std::span<std::byte> first = below_.replies.place(there, header, 60);
  ASSERT_EQ(first.data(), got_.data());
  EXPECT_EQ(first.size(), 60u);
  below_.replies.on_placed(there, header, 60);
  EXPECT_EQ(below_.replies.place(there, header, 1000).size(), 40u);
  below_.replies.on_placed(there, header, 40);
  EXPECT_TRUE(request.complete);
}

TEST_F(RepliesTest, what_has_gaps_is_not_placed) {
  Request& request = receive();
  request.gaps = true;
  EXPECT_TRUE(below_.replies.place(there, header_of(request, MessageKind::data), 60).empty());
}

TEST_F(RepliesTest, a_clearance_starts_the_way_that_it_names) {
  Request& request = announced();
  reply(request, MessageKind::cts, ClearToSend{.receiver_request = 9, .limit = bytes, .delivery = Delivery::stream});
  EXPECT_EQ(request.way, Request::Way::stream);
  EXPECT_FALSE(below_.stream_way.empty());
}

TEST_F(RepliesTest, an_end_of_what_was_read_ends_the_send) {
  Request& request = announced();
  request.limit = bytes;
  reply(request, MessageKind::fin);
  EXPECT_TRUE(request.complete);
}

TEST_F(RepliesTest, an_acknowledgement_ends_a_synchronous_send) {
  Request& request = below_.request(Request::Kind::send, there, data_);
  request.mode = SendMode::synchronous;
  below_.sender.start(&request);
  reply(request, MessageKind::ack);
  EXPECT_TRUE(request.complete);
}

using RepliesDeathTest = RepliesTest;

TEST_F(RepliesDeathTest, the_end_of_a_write_to_an_announced_receive_lies_within_it) {
  Request& request = below_.request(Request::Kind::receive, there, got_);
  request.rtr_open = true;
  EXPECT_DEATH(reply(request, MessageKind::fin, PutEnd{bytes + 1}), "has written 101 bytes to a receive of 100");
}

TEST_F(RepliesDeathTest, a_name_of_no_operation_ends_the_job) {
  Request unknown;
  EXPECT_DEATH(reply(unknown, MessageKind::ack), "names no operation of this process");
}

TEST_F(RepliesDeathTest, data_that_nobody_asked_for_ends_the_job) {
  Request& request = receive();
  data_.resize(bytes + 1);
  EXPECT_DEATH(reply(request, MessageKind::data, std::span<const std::byte>(data_)), "brings more than was asked for");
}

TEST_F(RepliesDeathTest, a_clearance_beyond_the_message_ends_the_job) {
  Request& request = announced();
  EXPECT_DEATH(reply(request, MessageKind::cts, ClearToSend{.limit = bytes + 1, .delivery = Delivery::stream}),
               "asks for bytes that the message does not have");
}

}  // namespace
}  // namespace sluice
