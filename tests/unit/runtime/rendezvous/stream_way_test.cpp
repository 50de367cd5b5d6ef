// Messages as streams: what leaves, when it waits for room, and who takes turns.
#include "runtime/rendezvous/stream_way.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/support/engine_below.hpp"
#include "tests/unit/support/recording_sink.hpp"

namespace sluice {
namespace {

constexpr Peer self{0};
constexpr Peer neighbour{1};
constexpr Peer remote{2};  // streams directly
constexpr std::size_t segment = std::size_t{16} << 10;
constexpr int burst = 4;

/// Rings and sockets with so much room.
class FakeChannel final : public MinimalTransport {
 public:
  int messages = 0;  // of room in the ring
  std::size_t socket_room = 0;
  std::map<std::uint64_t, std::vector<std::byte>> arrived;  // by subject
  std::vector<std::uint64_t> order;                         // subjects

  [[nodiscard]] std::size_t max_payload(Peer) const override { return std::size_t{1} << 20; }
  std::byte* reserve(Peer, std::size_t payload_bytes) override {
    if (messages == 0) return nullptr;
    --messages;
    reserved_.resize(payload_bytes);
    return reserved_.data();
  }
  void commit(Peer, const WireHeader& header) override {
    EXPECT_EQ(header.kind, MessageKind::data);
    EXPECT_EQ(header.payload_bytes, reserved_.size());
    arrive(header.subject, reserved_);
  }
  [[nodiscard]] bool streams_directly(Peer peer) const override { return peer == remote; }
  std::size_t stream(Peer, std::uint64_t subject, std::span<const std::byte> next) override {
    const std::size_t bytes = std::min(next.size(), socket_room);
    socket_room -= bytes;
    arrive(subject, next.first(bytes));
    return bytes;
  }

 private:
  void arrive(std::uint64_t subject, std::span<const std::byte> bytes) {
    arrived[subject].insert(arrived[subject].end(), bytes.begin(), bytes.end());
    order.push_back(subject);
  }

  std::vector<std::byte> reserved_;
};

class StreamWayTest : public ::testing::Test {
 protected:
  StreamWayTest() {
    for (std::size_t i = 0; i < message_.size(); ++i) message_[i] = static_cast<std::byte>(i * 5 + i / 257);
  }

  void clear(Request& send, Peer to, std::uint64_t subject, std::size_t offset, std::size_t limit) {
    send.peer = to;
    ClearToSend asked;
    asked.receiver_request = subject;
    asked.offset = offset;
    asked.limit = limit;
    way_.cleared(send, asked);
  }
  [[nodiscard]] std::vector<std::byte> part(std::size_t begin, std::size_t end) const {
    return {message_.begin() + static_cast<std::ptrdiff_t>(begin), message_.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  std::vector<std::byte> message_ = std::vector<std::byte>(std::size_t{512} << 10);
  FakeChannel channel_;
  EngineBelow below_{self, channel_};
  Outbox through_channel_{below_.job, below_.sleepers, below_.matches, below_.above};
  StreamWay way_{{below_.job, through_channel_, below_.requests, below_.matches, below_.statistics}};
  StreamWay receiver_{{below_.job, below_.outbox, below_.requests, below_.matches, below_.statistics}};
  Request& first_ = below_.request(Request::Kind::send, neighbour, message_);
  Request& second_ = below_.request(Request::Kind::send, neighbour, message_);
  Request& receive_ = below_.request(Request::Kind::receive, neighbour, message_);
};

TEST_F(StreamWayTest, a_receiver_asks_for_what_is_not_already_on_its_way) {
  receive_.offset = 100;
  receive_.stop = 5000;
  receiver_.begin(receive_, 900);
  EXPECT_EQ(receive_.way, Request::Way::stream);
  const auto clear = below_.last<ClearToSend>(MessageKind::cts);
  EXPECT_EQ(clear.offset, 1000U);
  EXPECT_EQ(clear.limit, 5000U);
  EXPECT_EQ(clear.delivery, Delivery::stream);
  EXPECT_EQ(below_.statistics.streamed, 1U);
}

TEST_F(StreamWayTest, what_its_announcement_brought_whole_has_ended) {
  receive_.offset = receive_.stop = 5000;
  EXPECT_EQ(receiver_.bid(receive_, 0).moves, 0U);
  EXPECT_TRUE(receiver_.begin(receive_, 0));
  EXPECT_EQ(below_.news(), (std::vector<std::string>{"fin", "finish"}));
  EXPECT_TRUE(receive_.complete);
}

TEST_F(StreamWayTest, what_is_still_to_be_delivered_of_it_ends_it_later) {
  receive_.stop = 5000;
  EXPECT_TRUE(receiver_.begin(receive_, 5000));
  EXPECT_EQ(below_.news(), std::vector<std::string>{"fin"});
  EXPECT_FALSE(receive_.complete);
}

TEST_F(StreamWayTest, goes_through_the_ring_in_segments_a_burst_at_a_time) {
  channel_.messages = 100;
  const std::size_t end = 6 * segment + 10;
  clear(first_, neighbour, 7, 10, end);
  EXPECT_TRUE(way_.work());
  EXPECT_EQ(channel_.order.size(), static_cast<std::size_t>(burst));
  EXPECT_FALSE(first_.complete);
  EXPECT_TRUE(way_.work());
  EXPECT_EQ(channel_.arrived[7], part(10, end));
  EXPECT_TRUE(first_.complete);
  EXPECT_TRUE(way_.empty());
}

TEST_F(StreamWayTest, waits_for_room_until_it_is_told_of_some) {
  clear(first_, neighbour, 7, 0, 2 * segment);
  EXPECT_TRUE(way_.may_move());
  EXPECT_FALSE(way_.work());
  EXPECT_FALSE(way_.may_move());
  channel_.messages = 2;
  EXPECT_FALSE(way_.work());  // nobody has told it
  way_.on_room();
  EXPECT_TRUE(way_.may_move());
  EXPECT_TRUE(way_.work());
  EXPECT_TRUE(first_.complete);
}

TEST_F(StreamWayTest, one_that_comes_new_finds_out_by_itself_whether_there_is_room) {
  clear(first_, neighbour, 7, 0, segment);
  EXPECT_FALSE(way_.work());
  channel_.socket_room = segment;
  clear(second_, remote, 8, 0, segment);
  EXPECT_TRUE(way_.work());
  EXPECT_TRUE(second_.complete);
}

TEST_F(StreamWayTest, several_take_turns) {
  channel_.messages = 100;
  clear(first_, neighbour, 7, 0, 6 * segment);
  clear(second_, neighbour, 8, 0, 2 * segment);
  way_.work();
  EXPECT_EQ(channel_.order, (std::vector<std::uint64_t>{7, 7, 7, 7, 8, 8}));
  EXPECT_TRUE(second_.complete);
}

TEST_F(StreamWayTest, over_sockets_goes_on_where_the_socket_was_full) {
  channel_.socket_room = 1000;
  clear(first_, remote, 7, 0, 300'000);
  EXPECT_TRUE(way_.work());
  EXPECT_EQ(first_.offset, 1000U);
  EXPECT_FALSE(way_.work());
  channel_.socket_room = 1'000'000;
  way_.on_room();
  EXPECT_TRUE(way_.work());
  EXPECT_EQ(channel_.arrived[7], part(0, 300'000));
  EXPECT_TRUE(first_.complete);
}

TEST_F(StreamWayTest, to_itself_a_process_needs_no_room) {
  RecordingSink got;
  clear(first_, self, 7, 0, 3 * segment);
  EXPECT_TRUE(way_.work());
  EXPECT_TRUE(first_.complete);
  std::string all;
  while (through_channel_.poll_self(got) > 0) {
  }
  for (const auto& message : got.messages) all += message.payload;
  const auto expected = part(0, 3 * segment);
  EXPECT_EQ(all, std::string(reinterpret_cast<const char*>(expected.data()), expected.size()));
}

TEST_F(StreamWayTest, what_has_gaps_is_packed_first) {
  constexpr std::size_t blocks = 2500;
  std::vector<std::byte> packed;
  for (std::size_t block = 0; block < blocks; ++block) {
    const auto bytes = part(block * 8, block * 8 + 4);
    packed.insert(packed.end(), bytes.begin(), bytes.end());
  }
  channel_.socket_room = 1'000'000;
  clear(first_, remote, 7, 64, packed.size());
  StridedRun run;
  run.bytes = 4;
  run.count = 1;
  first_.describe({message_.data(), blocks, std::make_shared<const Layout>(std::vector{run}, 8)});
  EXPECT_TRUE(way_.work());
  packed.erase(packed.begin(), packed.begin() + 64);
  EXPECT_EQ(channel_.arrived[7], packed);
}

}  // namespace
}  // namespace sluice
