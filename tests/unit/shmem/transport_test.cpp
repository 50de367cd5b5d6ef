#include "shmem/transport.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/support/recording_sink.hpp"
#include "tests/unit/support/shmem_node.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(ShmemTransport, DeliversAMessageWithItsSender) {
  ShmemNode node(3);
  RecordingSink sink;
  send(node[2], Peer{0}, "hello", MessageKind::rts, 77);
  EXPECT_EQ(node[0].poll(sink), 1);
  EXPECT_EQ(sink.messages.at(0).from, Peer{2});
  EXPECT_EQ(sink.messages.at(0).header.subject, 77u);
  EXPECT_EQ(sink.messages.at(0).payload, "hello");
}

TEST(ShmemTransport, CarriesThePayloadThatItPromises) {
  ShmemNode node(2);
  RecordingSink sink;
  const std::string largest(node[0].max_payload(Peer{1}), 'x');
  ASSERT_TRUE(send(node[0], Peer{1}, largest));
  node[1].poll(sink);
  EXPECT_EQ(sink.messages.at(0).payload, largest);
}

TEST(ShmemTransport, PendingTellsWhatAPollWouldDeliver) {
  ShmemNode node(2);
  RecordingSink sink;
  EXPECT_FALSE(node[1].pending());
  send(node[0], Peer{1}, "first contact");
  EXPECT_TRUE(node[1].pending());
  node[1].poll(sink);
  EXPECT_FALSE(node[1].pending());
  send(node[0], Peer{1}, "second");
  EXPECT_TRUE(node[1].pending());
}

TEST(ShmemTransport, IsSilentUntilAPollWouldDeliverSomething) {
  ShmemNode node(3);
  RecordingSink sink;
  EXPECT_TRUE(node[1].is_silent());
  for (const std::size_t sender : {std::size_t{0}, std::size_t{2}, std::size_t{0}}) {
    send(node[sender], Peer{1}, "a message");
    EXPECT_FALSE(node[1].is_silent());
    node[1].poll(sink);
    EXPECT_TRUE(node[1].is_silent());
  }
}

TEST(ShmemTransport, IsNotAtRestWhileItWaitsForRoom) {
  ShmemNode node(2);
  RecordingSink sink;
  const std::string message(10'000, 'x');
  EXPECT_TRUE(node[0].is_at_rest());
  while (send(node[0], Peer{1}, message)) {
  }
  EXPECT_FALSE(node[0].is_at_rest());
  while (node[1].poll(sink) != 0) {
  }
  node[0].poll(sink);
  EXPECT_TRUE(node[0].is_at_rest());
}

TEST(ShmemTransport, OneBusySenderDoesNotStarveAnother) {
  ShmemNode node(3);
  RecordingSink sink;
  for (int i = 0; i < 100; i++) send(node[1], Peer{0}, "many");
  send(node[2], Peer{0}, "one");
  node[0].poll(sink);
  EXPECT_EQ(sink.messages.back().payload, "one");
}

class GreedySink : public RecordingSink {
 public:
  [[nodiscard]] bool takes_another() const override { return messages.size() < wanted; }
  std::size_t wanted = 0;
};

TEST(ShmemTransport, APollHandsOverOneMessageOfASenderOrAsManyAsTheSinkTakes) {
  ShmemNode node(3);
  GreedySink sink;
  for (int i = 0; i < 20; i++) send(node[1], Peer{0}, std::to_string(i));
  EXPECT_EQ(node[0].poll(sink), 1);
  sink.wanted = 4;
  EXPECT_EQ(node[0].poll(sink), 3);
  sink.wanted = 100;
  send(node[2], Peer{0}, "another");
  const int taken = node[0].poll(sink);
  EXPECT_GT(taken, 3);
  EXPECT_LT(taken, 17) << "others must get their turn";
  EXPECT_EQ(sink.messages.back().payload, "another");
  while (node[0].poll(sink) != 0) {
  }
  EXPECT_EQ(sink.messages.size(), 21u);
}

TEST(ShmemTransport, ASenderWithoutRoomIsToldOnceThereIsSome) {
  ShmemNode node(2);
  RecordingSink sender;
  RecordingSink receiver;
  std::size_t sent = 0;
  while (send(node[0], Peer{1}, std::string(1000, 'x'))) sent++;
  node[0].poll(sender);
  EXPECT_TRUE(sender.room_at.empty());
  while (node[1].poll(receiver) != 0) {
  }
  EXPECT_TRUE(node[0].pending());
  node[0].poll(sender);
  EXPECT_EQ(sender.room_at, std::vector{Peer{1}});
  EXPECT_EQ(receiver.messages.size(), sent);
  EXPECT_TRUE(send(node[0], Peer{1}, std::string(1000, 'x')));
}

TEST(ShmemTransport, AFailedReserveWakesAReceiverThatOwesRoom) {
  ShmemNode node(2);
  RecordingSink receiver;
  while (send(node[0], Peer{1}, std::string(1000, 'x'))) {
  }
  node[1].poll(receiver);  // some, but not a quarter of the ring
  node[1].set_wake_mask(WakeMask::rendezvous);
  EXPECT_TRUE(node[1].pending());
  EXPECT_EQ(node[0].reserve(Peer{1}, 20000), nullptr);
  node[1].sleep_helper();  // returns
}

TEST(ShmemTransport, CarriesProgressToTheOwnerOfTheSlot) {
  ShmemNode node(2);
  const std::uint32_t slot = node[1].open_progress_slot();
  EXPECT_EQ(node[1].progress(slot), 0u);
  node[0].report_progress(Peer{1}, slot, 4096);
  EXPECT_EQ(node[1].progress(slot), 4096u);
}

TEST(ShmemTransport, ASlotThatIsOpenedAgainStartsAtZero) {
  ShmemNode node(2);
  const std::uint32_t slot = node[1].open_progress_slot();
  node[0].report_progress(Peer{1}, slot, 4096);
  node[1].close_progress_slot(slot);
  EXPECT_EQ(node[1].open_progress_slot(), slot);
  EXPECT_EQ(node[1].progress(slot), 0u);
}

TEST(ShmemTransport, everybody_sees_what_all_adapters_of_the_node_have_under_way) {
  ShmemNode node(3);
  node[0].note_adapter_work(2);
  node[2].note_adapter_work(5);
  for (std::size_t process = 0; process < 3; process++) EXPECT_EQ(node[process].adapter_work(), 7u);
  node[2].note_adapter_work(-5);
  for (std::size_t process = 0; process < 3; process++) EXPECT_EQ(node[process].adapter_work(), 2u);
}

TEST(ShmemTransport, everybody_sees_what_all_expect_of_a_process) {
  ShmemNode node(3);
  node[0].expect_copy(Peer{1}, 1000);
  node[1].expect_copy(Peer{1}, 10);
  node[2].expect_copy(Peer{1}, 100);
  for (std::size_t process = 0; process < 3; process++) EXPECT_EQ(node[process].copy_load(Peer{1}).expected, 1110u);
  node[2].expect_copy(Peer{1}, -100);
  EXPECT_EQ(node[0].copy_load(Peer{1}).expected, 1010u);
  EXPECT_EQ(node[0].copy_load(Peer{0}).expected, 0u);
}

TEST(ShmemTransport, everybody_sees_how_much_a_process_has_copied) {
  ShmemNode node(2);
  node[1].copied(3);
  node[1].copied(4);
  EXPECT_EQ(node[0].copy_load(Peer{1}).made, 7u);
  EXPECT_EQ(node[0].copy_load(Peer{0}).made, 0u);
}

TEST(ShmemTransport, a_peer_is_attentive_unless_only_its_helper_thread_could_be_woken) {
  ShmemNode node(2);
  node[1].set_wake_mask(WakeMask::none);
  EXPECT_TRUE(node[0].is_attentive(Peer{1}));
  EXPECT_TRUE(node[0].is_attentive_soon(Peer{1}));
  node[1].set_wake_mask(WakeMask::rendezvous);
  EXPECT_FALSE(node[0].is_attentive(Peer{1}));
  EXPECT_FALSE(node[0].is_attentive_soon(Peer{1}));
  EXPECT_FALSE(node[0].is_asleep(Peer{1}));
  node[1].set_wake_mask(WakeMask::sleeper);
  EXPECT_TRUE(node[0].is_attentive(Peer{1}));
  EXPECT_TRUE(node[0].is_asleep(Peer{1}));
}

TEST(ShmemTransport, a_peers_lines_are_looked_at_once_for_each_time_that_they_were_written) {
  ShmemNode node(2);
  EXPECT_EQ(node[0].line_latency_ns(Peer{1}), 0U);
  for (int i = 0; i < 2; ++i) {
    node[1].mark_lines();
    node[0].mark_lines();
    EXPECT_GT(node[0].line_latency_ns(Peer{1}), 0U);
    EXPECT_EQ(node[0].line_latency_ns(Peer{1}), 0U);
  }
}

TEST(ShmemTransport, SaysWhenThereAreNoMoreSlots) {
  ShmemNode node(1);
  for (std::uint32_t i = 0; i < InboxLayout::slots; i++) ASSERT_NE(node[0].open_progress_slot(), Transport::no_slot);
  EXPECT_EQ(node[0].open_progress_slot(), Transport::no_slot);
}

/// Sends to all others and receives from all, random sizes, sleeping on room as well as on messages.
bool exchange_with_everybody(ShmemTransport& transport, std::size_t self, std::size_t size, std::size_t messages) {
  std::minstd_rand random(static_cast<unsigned>(self + 1));
  RecordingSink sink;
  std::vector<std::size_t> left(size, messages);
  left[self] = 0;
  std::size_t unsent = messages * (size - 1);
  std::vector<std::uint64_t> expected(size);
  while (unsent != 0 || sink.messages.size() < messages * (size - 1)) {
    bool moved = transport.poll(sink) != 0;
    for (std::size_t to = 0; to < size; to++) {
      if (left[to] == 0 ||
          !send(transport, peer_of(to), std::string(random() % 9000, 'x'), MessageKind::eager, messages - left[to]))
        continue;
      left[to]--;
      unsent--;
      moved = true;
    }
    if (moved) continue;
    transport.set_wake_mask(WakeMask::sleeper);
    if (!transport.pending()) transport.sleep(60s);
    transport.set_wake_mask(WakeMask::none);
  }
  for (const auto& message : sink.messages) {
    if (message.header.subject != expected[static_cast<std::size_t>(message.from)]++) return false;
  }
  return true;
}

TEST(ShmemTransport, CarriesEverythingBetweenProcessesThatSleepForRoomAndMessages) {
  constexpr std::size_t messages = 2000;
  Board* board = Board::make();
  const auto start = Clock::now();
  ForkedPeer one(*board, 1, 3,
                 [](ShmemTransport& transport, Board&) { return exchange_with_everybody(transport, 1, 3, messages); });
  ForkedPeer two(*board, 2, 3,
                 [](ShmemTransport& transport, Board&) { return exchange_with_everybody(transport, 2, 3, messages); });
  const auto zero = join_node(*board, 0, 3);
  EXPECT_TRUE(exchange_with_everybody(*zero, 0, 3, messages));
  EXPECT_TRUE(one.wait());
  EXPECT_TRUE(two.wait());
  EXPECT_LT(Clock::now() - start, 50s);
}

TEST(ShmemTransport, TellsThatAKilledPeerVanished) {
  Board* board = Board::make();
  ForkedPeer victim(*board, 1, 2, [](ShmemTransport&, Board&) { return ::pause() == 0; });
  const auto survivor = join_node(*board, 0, 2);
  EXPECT_EQ(survivor->vanished(), Peer{-1});
  victim.kill_and_wait();
  survivor->sleep_helper();
  EXPECT_EQ(survivor->vanished(), Peer{1});
}

TEST(ShmemTransport, what_a_killed_peer_expected_of_a_process_is_void) {
  Board* board = Board::make();
  ForkedPeer victim(*board, 1, 2, [](ShmemTransport& transport, Board& shared) {
    transport.expect_copy(Peer{0}, 4096);
    shared.words[0] = 1;
    return ::pause() == 0;
  });
  const auto survivor = join_node(*board, 0, 2);
  while (board->words[0] == 0) std::this_thread::yield();
  survivor->expect_copy(Peer{0}, 5);
  EXPECT_EQ(survivor->copy_load(Peer{0}).expected, 4101u);
  victim.kill_and_wait();
  survivor->sleep_helper();
  EXPECT_EQ(survivor->copy_load(Peer{0}).expected, 5u);
}

TEST(ShmemTransport, MessagesOfAKilledPeerStillArrive) {
  Board* board = Board::make();
  ForkedPeer victim(*board, 1, 2, [](ShmemTransport& transport, Board&) {
    send(transport, Peer{0}, "last words");
    return ::pause() == 0;
  });
  const auto survivor = join_node(*board, 0, 2);
  while (!survivor->pending()) std::this_thread::yield();
  victim.kill_and_wait();
  RecordingSink sink;
  survivor->poll(sink);
  EXPECT_EQ(sink.messages.at(0).payload, "last words");
}

TEST(ShmemTransport, APeerThatLeavesIsNotMissed) {
  ShmemNode node(3);
  node.end(1);
  node[0].wake_helper();
  node[0].sleep_helper();
  EXPECT_EQ(node[0].vanished(), Peer{-1});
}

TEST(ShmemTransport, AForkedChildThatLeavesDoesNotDoSoForItsParent) {
  Board* board = Board::make();
  ForkedPeer victim(*board, 1, 2, [](ShmemTransport& transport, Board& shared) {
    const pid_t child = fork();
    if (child == 0) {
      transport.leave();
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    shared.words[0] = 1;
    return ::pause() == 0;
  });
  const auto survivor = join_node(*board, 0, 2);
  while (board->words[0] == 0) std::this_thread::yield();
  victim.kill_and_wait();
  survivor->sleep_helper();
  EXPECT_EQ(survivor->vanished(), Peer{1});
}

TEST(ShmemTransport, APeerThatSendsAnImpossibleRecordIsIgnoredAndCountsAsVanished) {
  ShmemNode node(3);
  RecordingSink sink;
  WireHeader longer_than_its_record;
  longer_than_its_record.payload_bytes = 1000;
  node[1].reserve(Peer{0}, 8);
  node[1].commit(Peer{0}, longer_than_its_record);
  send(node[2], Peer{0}, "sane");
  node[0].poll(sink);
  node[0].poll(sink);
  EXPECT_EQ(node[0].vanished(), Peer{1});
  ASSERT_EQ(sink.messages.size(), 1u);
  EXPECT_EQ(sink.messages[0].from, Peer{2});
}

struct ShmemCopies : testing::TestWithParam<CopyMode> {};

TEST_P(ShmemCopies, AreThoseThatTheModeAllows) {
  const Descriptor alias(::memfd_create("alias", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(alias.get(), 1 << 20), 0);
  ShmemNode node(2, GetParam(), alias.get());
  const bool all = GetParam() == CopyMode::automatic;
  EXPECT_EQ(node[0].can_write(Peer{1}), all || GetParam() == CopyMode::alias);
  EXPECT_EQ(node[0].can_read(Peer{1}), all || GetParam() == CopyMode::cma);
  EXPECT_EQ(node[0].can_write_at(Peer{1}), all || GetParam() == CopyMode::cma);
}

INSTANTIATE_TEST_SUITE_P(Modes, ShmemCopies,
                         testing::Values(CopyMode::automatic, CopyMode::alias, CopyMode::cma, CopyMode::stream));

TEST(ShmemTransport, WritesIntoThePeersFileAndReadsItsMemory) {
  const Descriptor alias(::memfd_create("alias", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(alias.get(), 1 << 20), 0);
  ShmemNode node(2, CopyMode::automatic, alias.get());
  const std::string text = "single copy";
  ASSERT_TRUE(node[0].write(Peer{1}, 4096, std::as_bytes(std::span(text)), TargetLines::unknown));
  std::string back(text.size(), ' ');
  ASSERT_EQ(::pread(alias.get(), back.data(), back.size(), 4096), static_cast<ssize_t>(back.size()));
  EXPECT_EQ(back, text);
  const auto address = reinterpret_cast<std::uintptr_t>(text.data());
  std::string read(text.size(), ' ');
  EXPECT_EQ(node[0].read(Peer{1}, address, std::as_writable_bytes(std::span(read))), text.size());
  EXPECT_EQ(read, text);
  std::string written(text.size(), ' ');
  EXPECT_EQ(node[0].write_at(Peer{1}, reinterpret_cast<std::uintptr_t>(written.data()), std::as_bytes(std::span(text))),
            text.size());
  EXPECT_EQ(written, text);
}

TEST(ShmemTransport, WithoutAnAliasFileSaysWhyItCannotWrite) {
  ShmemNode node(2);
  EXPECT_FALSE(node[0].can_write(Peer{1}));
  EXPECT_NE(node[0].refusals(Peer{1}).find("alias"), std::string::npos);
}

}  // namespace
}  // namespace sluice
