#include "tests/unit/support/loopback_transport.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>

namespace sluice {
namespace {

class Recorder : public MessageSink {
 public:
  void on_message(Peer from, const WireHeader& header, std::span<const std::byte> payload) override {
    last_from = from;
    sum += header.subject;
    text.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
    messages++;
  }
  void on_room(Peer) override { rooms++; }

  Peer last_from{-1};
  std::uint64_t sum = 0;
  std::string text;
  int messages = 0;
  int rooms = 0;
};

bool send(Transport& by, Peer to, std::uint64_t subject, const std::string& text) {
  std::byte* room = by.reserve(to, text.size());
  if (!room) return false;
  std::memcpy(room, text.data(), text.size());
  WireHeader header;
  header.kind = MessageKind::eager;
  header.payload_bytes = static_cast<std::uint32_t>(text.size());
  header.subject = subject;
  by.commit(to, header);
  return true;
}

TEST(LoopbackTransport, DeliversWhatWasCommitted) {
  LoopbackNetwork network(2);
  Recorder sink;
  send(network.transport(Peer{0}), Peer{1}, 7, "hello");
  EXPECT_EQ(network.transport(Peer{1}).poll(sink), 1);
  EXPECT_EQ(sink.last_from, Peer{0});
  EXPECT_EQ(sink.sum, 7u);
  EXPECT_EQ(sink.text, "hello");
}

TEST(LoopbackTransport, HoldsADelayedMessageForThatManyPolls) {
  LoopbackNetwork network(2, {.delay_polls = 2});
  Recorder sink;
  send(network.transport(Peer{0}), Peer{1}, 1, "");
  EXPECT_EQ(network.transport(Peer{1}).poll(sink), 0);
  EXPECT_EQ(network.transport(Peer{1}).poll(sink), 0);
  EXPECT_EQ(network.transport(Peer{1}).poll(sink), 1);
}

TEST(LoopbackTransport, TellsASenderWithoutRoomOnceThereIsSome) {
  LoopbackNetwork network(2, {.room = 1});
  Recorder sender;
  Recorder receiver;
  ASSERT_TRUE(send(network.transport(Peer{0}), Peer{1}, 1, ""));
  ASSERT_FALSE(send(network.transport(Peer{0}), Peer{1}, 2, ""));
  network.transport(Peer{0}).poll(sender);
  EXPECT_EQ(sender.rooms, 0);
  network.transport(Peer{1}).poll(receiver);
  network.transport(Peer{0}).poll(sender);
  EXPECT_EQ(sender.rooms, 1);
  EXPECT_TRUE(send(network.transport(Peer{0}), Peer{1}, 2, ""));
}

TEST(LoopbackTransport, ReadStopsWhereItsBudgetEnds) {
  LoopbackNetwork network(2, {.read_budget = 6});
  const std::string there = "abcdefgh";
  std::string here(8, '-');
  const auto address = reinterpret_cast<std::uintptr_t>(there.data());
  EXPECT_EQ(network.transport(Peer{0}).read(Peer{1}, address, std::as_writable_bytes(std::span(here))), 6u);
  EXPECT_EQ(here, "abcdef--");
  EXPECT_FALSE(network.transport(Peer{0}).can_read(Peer{1}));
}

TEST(LoopbackTransport, EverybodyLearnsOfALostPeer) {
  LoopbackNetwork network(3);
  network.lose(Peer{2});
  network.transport(Peer{0}).sleep_helper();
  EXPECT_EQ(network.transport(Peer{0}).vanished(), Peer{2});
  EXPECT_EQ(network.transport(Peer{1}).vanished(), Peer{2});
}

TEST(LoopbackTransport, WakesASleeperInAnotherThread) {
  LoopbackNetwork network(2);
  Recorder sink;
  constexpr std::uint64_t rounds = 2000;
  std::thread receiver([&] {
    Transport& transport = network.transport(Peer{1});
    while (sink.messages < static_cast<int>(rounds)) {
      transport.set_wake_mask(WakeMask::sleeper);
      if (!transport.pending()) transport.sleep(std::chrono::seconds(20));
      transport.set_wake_mask(WakeMask::none);
      transport.poll(sink);
    }
  });
  for (std::uint64_t i = 1; i <= rounds; i++) send(network.transport(Peer{0}), Peer{1}, i, "x");
  receiver.join();
  EXPECT_EQ(sink.sum, rounds * (rounds + 1) / 2);
}

}  // namespace
}  // namespace sluice
