// Sleeping and waking, by the transport's interface: the pattern of wake_word.hpp with everything that it must consider.
#include "shmem/wake_word.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "tests/unit/support/recording_sink.hpp"
#include "tests/unit/support/shmem_node.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(WakeMask, RendezvousMaskIsNotTakenByEagerMessages) {
  ShmemNode node(2);
  node[1].set_wake_mask(WakeMask::rendezvous);
  send(node[0], Peer{1}, "", MessageKind::eager);
  node[1].wake_helper();
  node[1].sleep_helper();  // by wake_helper; the message would have rung a second time
  send(node[0], Peer{1}, "", MessageKind::rts);
  node[1].sleep_helper();
}

TEST(WakeMask, WhoAsksForSmallMessagesIsRemindedToLookForThemAsTheirSendersMayHaveLookedTooEarly) {
  ShmemNode node(2);
  node[1].set_wake_mask(WakeMask::everything);
  node[1].sleep_helper();  // returns, though nobody rang
  EXPECT_FALSE(node[0].is_attentive(Peer{1})) << "its wake_mask stays";
}

/// Fills the ring from 0 to 1, of which 1 has not made known what it has read.
void leave_little_room(ShmemNode& node) {
  RecordingSink receiver;
  while (send(node[0], Peer{1}, std::string(5000, 'x'))) {
  }
  node[1].poll(receiver);
}

TEST(WakeMask, RoomMaskIsTakenByNoMessageButByWhoFindsNoRoom) {
  ShmemNode node(2);
  leave_little_room(node);
  node[1].set_wake_mask(WakeMask::room);
  ASSERT_TRUE(send(node[0], Peer{1}, "", MessageKind::eager));
  ASSERT_TRUE(send(node[0], Peer{1}, "", MessageKind::rts));
  node[1].wake_helper();
  node[1].sleep_helper();  // by wake_helper; a message that rang would have lowered the wake mask
  EXPECT_EQ(node[0].reserve(Peer{1}, 20000), nullptr);
  node[1].sleep_helper();
}

TEST(WakeMask, WhoWaitsWakesThoseThatHaveLeftSomethingUndoneAndNobodyElse) {
  ShmemNode node(3);
  node[1].set_wake_mask(WakeMask::everything);
  node[2].set_wake_mask(WakeMask::receives | EventMask::waiting);
  node[0].tell_of_waiting();
  node[2].sleep_helper();  // returns
  EXPECT_TRUE(node[0].is_attentive(Peer{2}));
  EXPECT_FALSE(node[0].is_attentive(Peer{1})) << "its wake_mask was taken";
}

TEST(WakeMask, WhereProcessorsAreSharedWhoLeavesHasItsHelperThreadTellTheOthers) {
  ShmemNode node(ShmemNode::processors + 1);
  node[1].set_wake_mask(WakeMask::rendezvous);
  send(node[0], Peer{1}, "", MessageKind::rts);
  node[0].leave_wakeups();
  EXPECT_FALSE(node[0].is_attentive(Peer{1}));
  node[0].sleep_helper();  // returns
  EXPECT_FALSE(node[0].is_attentive(Peer{1}));
  node[0].flush_wakeups();
  node[1].sleep_helper();
  // ... and again.
  node[1].set_wake_mask(WakeMask::rendezvous);
  send(node[0], Peer{1}, "", MessageKind::rts);
  node[0].leave_wakeups();
  node[0].sleep_helper();
}

TEST(WakeMask, WhoTakesItWakesWhateverItAsksForByThen) {
  constexpr int rounds = 20'000;
  std::atomic wake_mask{WakeMask::none};
  std::atomic<int> begun{0};
  std::atomic<int> set{0};
  const Descriptor bell(checked(::eventfd(0, EFD_NONBLOCK), "eventfd"));
  std::jthread owner([&] {
    for (int round = 1; round <= rounds; round++) {
      while (begun != round) {
      }
      wake_mask = WakeMask::everything;
      wake_mask = WakeMask::room;
      set = round;
    }
  });
  for (int round = 1; round <= rounds; round++) {
    wake_mask = WakeMask::none;
    begun = round;
    while (set != round) wake_owner(wake_mask, EventMask::eager, bell.get());
    std::uint64_t rung = 0;
    const bool heard = ::read(bell.get(), &rung, sizeof rung) > 0;
    ASSERT_TRUE(heard || wake_mask == WakeMask::room);
  }
}

/// More processes than processors: a sender does not tell its peers at once.
TEST(WakeMask, OfWhatIsPutOffTheMostUrgentIsTold) {
  ShmemNode node(ShmemNode::processors + 1);
  leave_little_room(node);
  node[1].set_wake_mask(WakeMask::rendezvous);
  EXPECT_EQ(node[0].reserve(Peer{1}, 20000), nullptr);
  ASSERT_TRUE(send(node[0], Peer{1}, "", MessageKind::rts));
  node[1].set_wake_mask(WakeMask::room);
  node[0].flush_wakeups();
  node[1].sleep_helper();
}

TEST(WakeMask, AMessageEndsASleep) {
  ShmemNode node(2);
  node[1].set_wake_mask(WakeMask::sleeper);
  std::jthread sleeper([&] { node[1].sleep(60s); });
  send(node[0], Peer{1}, "");
}

TEST(WakeMask, PokeEndsASleep) {
  ShmemNode node(1);
  node[0].set_wake_mask(WakeMask::sleeper);
  std::jthread sleeper([&] { node[0].sleep(60s); });
  node[0].poke();
}

TEST(WakeMask, ASleepEndsWithItsLimit) {
  ShmemNode node(1);
  node[0].set_wake_mask(WakeMask::sleeper);
  node[0].sleep(1ms);
}

/// Both sides send one message at a time, and sleep whenever nothing is pending: a lost wake-up would take a minute.
void sleepy_ping_pong(ShmemTransport& transport, Peer other, bool first, std::uint64_t rounds) {
  RecordingSink sink;
  for (std::uint64_t i = 0; i < rounds; i++) {
    if (first) send(transport, other, "ping");
    while (sink.messages.size() == i) {
      transport.set_wake_mask(WakeMask::sleeper);
      if (!transport.pending()) transport.sleep(60s);
      transport.set_wake_mask(WakeMask::none);
      transport.poll(sink);
    }
    if (!first) send(transport, other, "pong");
  }
}

TEST(WakeMask, NoWakeUpOfASleeperIsLost) {
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

TEST(WakeMask, NoWakeUpOfTheHelperIsLost) {
  constexpr std::size_t messages = 5000;
  ShmemNode node(2);
  std::jthread helper([&] {
    RecordingSink sink;
    while (sink.messages.size() < messages) {
      node[1].set_wake_mask(WakeMask::everything);
      if (!node[1].pending()) node[1].sleep_helper();
      node[1].set_wake_mask(WakeMask::none);
      node[1].poll(sink);
    }
  });
  for (std::size_t i = 0; i < messages; i++) {
    while (!send(node[0], Peer{1}, std::string(i % 3000, 'x'))) std::this_thread::yield();
  }
}

TEST(WakeMask, NoWishForRoomIsLost) {
  constexpr std::size_t messages = 20'000;
  ShmemNode node(2);
  std::jthread helper([&] {
    RecordingSink sink;
    while (sink.messages.size() < messages) {
      node[1].set_wake_mask(WakeMask::room);
      // Messages alone may wait; but the last ones are followed by no wish.
      if (!node[1].pending() && sink.messages.size() + 100 < messages) node[1].sleep_helper();
      node[1].set_wake_mask(WakeMask::none);
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
