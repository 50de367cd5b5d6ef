// What leaves at once, what waits for room, and in which order.

#include "runtime/engine/outbox.hpp"

#include <gtest/gtest.h>

#include "runtime/engine/eager.hpp"
#include "runtime/engine/matching.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/recording_sink.hpp"
#include "tests/unit/support/two_engines.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

struct Host : Outbox::Host {
  void eager_sent(Request* send) override { sent.push_back(send); }
  std::vector<Request*> sent;
};

struct OutboxTest : testing::Test {
  static constexpr Peer other{1};

  OutboxTest() { context.become({Peer{0}, Peer{1}}, zero); }

  Request& eager(std::string& text, Peer to = other) {
    Request& send = *pool.take();
    send.kind = Request::Kind::send;
    send.mode = SendMode::standard;
    send.context = &context;
    send.tag = tag;
    send.peer = to;
    send.data = reinterpret_cast<std::byte*>(text.data());
    send.bytes = text.size();
    return send;
  }
  void take_all() {
    while (network.transport(other).poll(received) > 0) {
    }
  }
  [[nodiscard]] std::string texts() const {
    std::string all;
    for (const auto& message : received.messages) all += message.payload + " ";
    return all;
  }

  LoopbackNetwork network{2, {.room = 1}};
  const Job job{one_of_two(Peer{0}, network.transport(Peer{0}), {})};
  Sleepers sleepers{&network.transport(Peer{0})};
  Host host;
  MatchTrace matches{job.config};
  Outbox outbox{job, sleepers, matches, host};
  Context context{ContextId{1}};
  RequestPool pool;
  RecordingSink received;
  std::string a = "a", b = "b", c = "c";
};

TEST_F(OutboxTest, a_message_leaves_at_once_where_there_is_room) {
  Request& send = eager(a);
  EXPECT_TRUE(outbox.send_eager(send, eager_header(send)));
  EXPECT_EQ(outbox.queued(), 0u);
  EXPECT_TRUE(host.sent.empty()) << "its caller knows";
  take_all();
  EXPECT_EQ(texts(), "a ");
}

TEST_F(OutboxTest, what_finds_no_room_leaves_in_order_when_there_is_some) {
  Request& first = eager(a);
  Request& second = eager(b);
  outbox.send_eager(first, eager_header(first));
  EXPECT_FALSE(outbox.send_eager(second, eager_header(second)));
  outbox.send_control(other, MessageKind::fin, 7, std::as_bytes(std::span(c)));
  EXPECT_EQ(outbox.queued(), 2u);
  EXPECT_FALSE(outbox.is_free(other));
  EXPECT_TRUE(outbox.is_free(Peer{0}));
  for (int round = 0; round < 3; ++round) {
    take_all();
    outbox.on_room(other);
  }
  EXPECT_EQ(texts(), "a b c ");
  EXPECT_EQ(received.messages.back().header.subject, 7u);
  EXPECT_EQ(host.sent, std::vector<Request*>{&second});
  EXPECT_EQ(outbox.queued(), 0u);
}

TEST_F(OutboxTest, nothing_overtakes_what_waits) {
  Request& first = eager(a);
  Request& second = eager(b);
  outbox.send_eager(first, eager_header(first));
  outbox.send_eager(second, eager_header(second));
  take_all();  // there is room now
  outbox.send_control(other, MessageKind::fin, 7, std::as_bytes(std::span(c)));
  EXPECT_EQ(outbox.queued(), 2u);
}

TEST_F(OutboxTest, an_answer_names_the_request_of_the_other_side) {
  Request& receive = eager(a);
  receive.kind = Request::Kind::receive;
  receive.remote_request = 99;
  outbox.answer(receive, MessageKind::ack);
  take_all();
  ASSERT_EQ(received.messages.size(), 1u);
  EXPECT_EQ(received.messages[0].header.kind, MessageKind::ack);
  EXPECT_EQ(received.messages[0].header.subject, 99u);
}

TEST_F(OutboxTest, the_name_of_a_synchronous_send_follows_its_bytes) {
  Request& send = eager(a);
  send.mode = SendMode::synchronous;
  send.id = RequestId{5};
  outbox.send_eager(send, eager_header(send));
  take_all();
  ASSERT_EQ(received.messages[0].payload.size(), 1 + sizeof send.id);
  EXPECT_EQ(received.messages[0].payload[1], 5);
}

TEST_F(OutboxTest, messages_to_itself_take_no_transport) {
  Request& send = eager(a, Peer{0});
  EXPECT_FALSE(outbox.self_pending());
  EXPECT_TRUE(outbox.send_eager(send, eager_header(send)));
  EXPECT_TRUE(outbox.self_pending());
  outbox.poll_self(received);
  EXPECT_EQ(texts(), "a ");
}

}  // namespace
}  // namespace sluice
