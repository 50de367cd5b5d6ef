// Sends with a request: what leaves, what waits, and when the program's operation is over.

#include "runtime/rendezvous/sender.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/support/node_fakes.hpp"
#include "tests/unit/support/ways_together.hpp"

namespace sluice {
namespace {

constexpr Peer there{1};
constexpr std::size_t limit = 1000;

class SenderTest : public testing::Test {
 protected:
  static Config limited() {
    Config config;
    config.eager_limit = limit;
    config.single_copy = limit / 2;
    return config;
  }
  Request& send(std::size_t bytes, SendMode mode = SendMode::standard) {
    Request& made = below_.request(Request::Kind::send, there, std::span(data_).first(bytes));
    made.mode = mode;
    below_.sender.start(&made);
    return made;
  }
  Request& release_unknown() {
    Request& released = below_.request(Request::Kind::receive, there, data_);
    released.unknown = true;
    below_.causality.add(released);
    return released;
  }
  [[nodiscard]] std::vector<MessageKind> left() const {
    std::vector<MessageKind> kinds;
    for (const auto& message : below_.sent.sent) kinds.push_back(message.header.kind);
    return kinds;
  }

  FakeNodeMemory node_;
  WaysTogether below_{node_, limited()};
  std::vector<std::byte> data_ = std::vector<std::byte>(2 * limit, std::byte{7});
};

TEST_F(SenderTest, an_eager_one_is_over_when_it_has_left) {
  EXPECT_TRUE(send(100).complete);
  EXPECT_EQ(left(), std::vector{MessageKind::eager});
  EXPECT_EQ(below_.statistics.eager_sends, 1u);
  EXPECT_EQ(below_.small_sends.numbers()[1].sent, 1u);
}

TEST_F(SenderTest, a_synchronous_one_waits_for_its_acknowledgement) {
  const Request& request = send(100, SendMode::synchronous);
  EXPECT_FALSE(request.complete);
  EXPECT_EQ(request.expects, Request::Expects::acknowledgement);
}

TEST_F(SenderTest, a_large_one_is_announced) {
  const Request& request = send(limit + 1);
  EXPECT_FALSE(request.complete);
  EXPECT_EQ(left(), std::vector{MessageKind::rts});
  EXPECT_EQ(request.expects, Request::Expects::clearance);
  EXPECT_EQ(below_.statistics.rendezvous_sends, 1u);
}

TEST_F(SenderTest, a_buffered_one_is_over_at_once_and_its_copy_travels) {
  const Request& request = send(limit + 1, SendMode::buffered);
  EXPECT_TRUE(request.complete);
  EXPECT_EQ(left(), std::vector{MessageKind::rts});
  EXPECT_EQ(below_.requests.counts().buffered_sends, 1u);
  EXPECT_EQ(below_.requests.counts().pending_sends, 1u);
}

TEST_F(SenderTest, one_without_room_is_over_when_it_has_left) {
  below_.sent.is_full = true;
  Request& request = send(100);
  EXPECT_FALSE(request.complete);
  below_.sent.is_full = false;
  below_.outbox.on_room(there);
  ASSERT_EQ(below_.above.sent, std::vector{&request});
  below_.sender.eager_sent(&request);
  EXPECT_TRUE(request.complete);
}

TEST_F(SenderTest, behind_an_unknown_release_a_small_one_is_over_and_held_back) {
  Request& released = release_unknown();
  EXPECT_TRUE(send(100).complete);
  EXPECT_TRUE(left().empty());
  EXPECT_EQ(below_.causality.held().size(), 1u);
  EXPECT_EQ(below_.statistics.held_sends, 1u);

  struct Watcher : Causality::Watcher {
    void matched(Request&) override {}
    void ended(Request&) override {}
  } watcher;
  below_.causality.watch(&watcher);
  below_.causality.matched(released);
  ASSERT_EQ(below_.above.let_go.size(), 1u);
  below_.sender.transmit(*below_.above.let_go[0]);
  EXPECT_EQ(left(), std::vector{MessageKind::eager});
  EXPECT_EQ(below_.requests.counts().pending_sends, 0u);
}

TEST_F(SenderTest, behind_an_unknown_release_a_large_one_waits) {
  release_unknown();
  EXPECT_FALSE(send(limit + 1).complete);
  EXPECT_TRUE(left().empty());
}

}  // namespace
}  // namespace sluice
