// Which messages leave at once, and what keeps others from it. What one costs: small_message_test.cpp.

#include "runtime/engine/small_sends.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/support/engine_below.hpp"
#include "tests/unit/support/node_fakes.hpp"

namespace sluice {
namespace {

using AtOnce = SmallSends::AtOnce;
constexpr Rank there{1};
constexpr std::size_t limit = 1000;
constexpr std::size_t single_copy = 500;

class SmallSendsTest : public testing::Test {
 protected:
  static Config limited() {
    Config config;
    config.eager_limit = limit;
    config.single_copy = single_copy;
    return config;
  }
  AtOnce send(std::size_t bytes, Rank to = there) { return sends_.send(below_.world, to, Tag{3}, data_.data(), bytes); }
  [[nodiscard]] std::size_t left() const { return below_.sent.sent.size(); }

  FakeNodeMemory node_;
  EngineBelow below_{Peer{0}, node_, limited()};
  SmallSends sends_{below_.job, below_.outbox, below_.causality, below_.statistics};
  std::vector<std::byte> data_ = std::vector<std::byte>(2 * limit, std::byte{7});
};

TEST_F(SmallSendsTest, one_with_nothing_in_its_way_has_left_and_is_counted) {
  EXPECT_EQ(send(100), AtOnce::has_left);
  ASSERT_EQ(left(), 1u);
  EXPECT_EQ(below_.sent.sent[0].header.kind, MessageKind::eager);
  EXPECT_EQ(below_.sent.sent[0].header.subject, 1u);
  EXPECT_EQ(below_.sent.sent[0].payload, std::vector<std::byte>(100, std::byte{7}));
  EXPECT_EQ(sends_.numbers()[1].sent, 1u);
  EXPECT_EQ(below_.statistics.eager_sends, 1u);
  EXPECT_EQ(below_.statistics.bytes_sent, 100u);
}

TEST_F(SmallSendsTest, it_says_how_many_announcements_have_come) {
  sends_.numbers()[1].rtrs = 7;
  send(100);
  EXPECT_EQ(below_.sent.sent.at(0).header.rtrs, 7u);
  WireHeader header;
  sends_.number(header, Peer{1});
  EXPECT_EQ(header.rtrs, 7u);
  EXPECT_EQ(sends_.numbers()[1].sent, 2u);
}

TEST_F(SmallSendsTest, without_room_nothing_was_done) {
  below_.sent.is_full = true;
  EXPECT_EQ(send(100), AtOnce::had_no_room);
  EXPECT_EQ(sends_.numbers()[1].sent, 0u);
  EXPECT_EQ(below_.statistics.bytes_sent, 0u);
}

TEST_F(SmallSendsTest, a_long_one_is_not_tried) { EXPECT_EQ(send(limit + 1), AtOnce::not_tried); }

TEST_F(SmallSendsTest, nothing_overtakes_what_is_queued) {
  below_.sent.is_full = true;
  below_.outbox.send_control(Peer{1}, MessageKind::fin, 1);
  below_.sent.is_full = false;
  EXPECT_EQ(send(100), AtOnce::not_tried);
}

TEST_F(SmallSendsTest, nothing_overtakes_a_send_that_waits_for_its_receiver) {
  sends_.numbers()[1].keeps = true;
  EXPECT_EQ(send(100), AtOnce::not_tried);
}

TEST_F(SmallSendsTest, nothing_leaves_after_the_release_of_an_unknown_receive) {
  Request& released = below_.request(Request::Kind::receive, Peer{1}, data_);
  released.unknown = true;
  below_.causality.add(released);
  EXPECT_EQ(send(100), AtOnce::not_tried);
}

TEST_F(SmallSendsTest, one_that_is_sent_again_unchanged_is_for_one_copy) {
  EXPECT_EQ(send(single_copy), AtOnce::has_left);
  EXPECT_EQ(send(single_copy), AtOnce::is_for_one_copy);
  EXPECT_EQ(send(single_copy - 1), AtOnce::has_left) << "shorter ones never are";
  node_.blocks_readable = false;
  EXPECT_EQ(send(single_copy), AtOnce::has_left) << "the peer cannot read blocks";
}

TEST_F(SmallSendsTest, to_itself_a_process_needs_no_transport) {
  EXPECT_EQ(send(single_copy, Rank{0}), AtOnce::has_left);
  EXPECT_EQ(left(), 0u);
  EXPECT_TRUE(below_.outbox.self_pending());
}

}  // namespace
}  // namespace sluice
