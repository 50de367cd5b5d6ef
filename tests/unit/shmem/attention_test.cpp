// Sleeping and waking, by the transport's interface: the pattern of attention.hpp with everything that it must consider.
#include "shmem/attention.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "tests/unit/support/recording_sink.hpp"
#include "tests/unit/support/shmem_node.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(Attention, RendezvousAttentionIsNotTakenByEagerMessages) {
  ShmemNode node(2);
  node[1].set_attention(Attention::rendezvous);
  send(node[0], Peer{1}, "", MessageKind::eager);
  node[1].wake_helper();
  node[1].sleep_helper();  // by wake_helper; the message would have rung a second time
  send(node[0], Peer{1}, "", MessageKind::rts);
  node[1].sleep_helper();
}

TEST(Attention, WhoAsksForSmallMessagesIsRemindedToLookForThemAsTheirSendersMayHaveLookedTooEarly) {
  ShmemNode node(2);
  node[1].set_attention(Attention::everything);
  node[1].sleep_helper();  // returns, though nobody rang
  EXPECT_FALSE(node[0].is_attentive(Peer{1})) << "its attention stays";
}

/// Fills the ring from 0 to 1, of which 1 has not made known what it has read.
void leave_little_room(ShmemNode& node) {
  RecordingSink receiver;
  while (send(node[0], Peer{1}, std::string(5000, 'x'))) {
  }
  node[1].poll(receiver);
}

TEST(Attention, RoomAttentionIsTakenByNoMessageButByWhoFindsNoRoom) {
  ShmemNode node(2);
  leave_little_room(node);
  node[1].set_attention(Attention::room);
  ASSERT_TRUE(send(node[0], Peer{1}, "", MessageKind::eager));
  ASSERT_TRUE(send(node[0], Peer{1}, "", MessageKind::rts));
  node[1].wake_helper();
  node[1].sleep_helper();  // by wake_helper; a message that rang would have lowered the attention
  EXPECT_EQ(node[0].reserve(Peer{1}, 20000), nullptr);
  node[1].sleep_helper();
}

TEST(Attention, WhoWaitsWakesThoseThatHaveLeftSomethingUndoneAndNobodyElse) {
  ShmemNode node(3);
  node[1].set_attention(Attention::everything);
  node[2].set_attention(Attention::receives | News::waiting);
  node[0].tell_of_waiting();
  node[2].sleep_helper();  // returns
  EXPECT_TRUE(node[0].is_attentive(Peer{2}));
  EXPECT_FALSE(node[0].is_attentive(Peer{1})) << "its attention was taken";
}

TEST(Attention, WhereProcessorsAreSharedWhoLeavesHasItsHelperThreadTellTheOthers) {
  ShmemNode node(ShmemNode::processors + 1);
  node[1].set_attention(Attention::rendezvous);
  send(node[0], Peer{1}, "", MessageKind::rts);
  node[0].leave_alerts();
  EXPECT_FALSE(node[0].is_attentive(Peer{1}));
  node[0].sleep_helper();  // returns
  EXPECT_FALSE(node[0].is_attentive(Peer{1}));
  node[0].flush_alerts();
  node[1].sleep_helper();
  // ... and again.
  node[1].set_attention(Attention::rendezvous);
  send(node[0], Peer{1}, "", MessageKind::rts);
  node[0].leave_alerts();
  node[0].sleep_helper();
}

TEST(Attention, WhoTakesItWakesWhateverItAsksForByThen) {
  constexpr int rounds = 20'000;
  std::atomic attention{Attention::none};
  std::atomic<int> begun{0};
  std::atomic<int> set{0};
  const Descriptor bell(checked(::eventfd(0, EFD_NONBLOCK), "eventfd"));
  std::jthread owner([&] {
    for (int round = 1; round <= rounds; round++) {
      while (begun != round) {
      }
      attention = Attention::everything;
      attention = Attention::room;
      set = round;
    }
  });
  for (int round = 1; round <= rounds; round++) {
    attention = Attention::none;
    begun = round;
    while (set != round) alert(attention, News::eager, bell.get());
    std::uint64_t rung = 0;
    const bool heard = ::read(bell.get(), &rung, sizeof rung) > 0;
    ASSERT_TRUE(heard || attention == Attention::room);
  }
}

/// More processes than processors: a sender does not tell its peers at once.
TEST(Attention, OfWhatIsPutOffTheMostUrgentIsTold) {
  ShmemNode node(ShmemNode::processors + 1);
  leave_little_room(node);
  node[1].set_attention(Attention::rendezvous);
  EXPECT_EQ(node[0].reserve(Peer{1}, 20000), nullptr);
  ASSERT_TRUE(send(node[0], Peer{1}, "", MessageKind::rts));
  node[1].set_attention(Attention::room);
  node[0].flush_alerts();
  node[1].sleep_helper();
}

TEST(Attention, AMessageEndsASleep) {
  ShmemNode node(2);
  node[1].set_attention(Attention::sleeper);
  std::jthread sleeper([&] { node[1].sleep(60s); });
  send(node[0], Peer{1}, "");
}

TEST(Attention, PokeEndsASleep) {
  ShmemNode node(1);
  node[0].set_attention(Attention::sleeper);
  std::jthread sleeper([&] { node[0].sleep(60s); });
  node[0].poke();
}

TEST(Attention, ASleepEndsWithItsLimit) {
  ShmemNode node(1);
  node[0].set_attention(Attention::sleeper);
  node[0].sleep(1ms);
}

/// Both sides send one message at a time, and sleep whenever nothing is pending: a lost wake-up would take a minute.
void sleepy_ping_pong(ShmemTransport& transport, Peer other, bool first, std::uint64_t rounds) {
  RecordingSink sink;
  for (std::uint64_t i = 0; i < rounds; i++) {
    if (first) send(transport, other, "ping");
    while (sink.messages.size() == i) {
      transport.set_attention(Attention::sleeper);
      if (!transport.pending()) transport.sleep(60s);
      transport.set_attention(Attention::none);
      transport.poll(sink);
    }
    if (!first) send(transport, other, "pong");
  }
}

TEST(Attention, NoWakeUpOfASleeperIsLost) {
  constexpr std::uint64_t rounds = 5000;
  Board* board = Board::make();
  ForkedPeer pong(*board, 1, 2, [&](ShmemTransport& transport, Board&) {
    sleepy_ping_pong(transport, Peer{0}, false, rounds);
    return true;
  });
  const auto ping = join_node(*board, 0, 2);
  const auto start = Clock::now();
  sleepy_ping_pong(*ping, Peer{1}, true, rounds);
  EXPECT_LT(Clock::now() - start, 50s);
  EXPECT_TRUE(pong.wait());
}

TEST(Attention, NoWakeUpOfTheHelperIsLost) {
  constexpr std::size_t messages = 5000;
  ShmemNode node(2);
  std::jthread helper([&] {
    RecordingSink sink;
    while (sink.messages.size() < messages) {
      node[1].set_attention(Attention::everything);
      if (!node[1].pending()) node[1].sleep_helper();
      node[1].set_attention(Attention::none);
      node[1].poll(sink);
    }
  });
  for (std::size_t i = 0; i < messages; i++) {
    while (!send(node[0], Peer{1}, std::string(i % 3000, 'x'))) std::this_thread::yield();
  }
}

TEST(Attention, NoWishForRoomIsLost) {
  constexpr std::size_t messages = 20'000;
  ShmemNode node(2);
  std::jthread helper([&] {
    RecordingSink sink;
    while (sink.messages.size() < messages) {
      node[1].set_attention(Attention::room);
      // Messages alone may wait; but the last ones are followed by no wish.
      if (!node[1].pending() && sink.messages.size() + 100 < messages) node[1].sleep_helper();
      node[1].set_attention(Attention::none);
      node[1].poll(sink);
    }
  });
  RecordingSink sink;
  for (std::size_t i = 0; i < messages; i++) {
    while (!send(node[0], Peer{1}, std::string(3000, 'x'))) {
      while (sink.room_at.empty()) node[0].poll(sink);  // who has asked does not ask again
      sink.room_at.clear();
    }
  }
}

}  // namespace
}  // namespace sluice
