// In which order two engines copy the chunks of messages that both take part in, and what each tells the other of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "runtime/alias/arena.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/engine.hpp"
#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/cooperating_engines.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/traced.hpp"
#include "tests/unit/support/two_engines.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

/// With more processes than processors, so that no helper thread copies.
Engine::Parts reader(LoopbackNetwork& network, Peer self) {
  Config config;
  config.release = ReleaseMode::off;
  config.rendezvous = Rendezvous::rget;
  Engine::Parts parts = one_of_two(self, network.transport(self), config);
  parts.processors.processes = 1000;
  return parts;
}

TEST(Chunks, of_two_messages_of_a_pair_are_read_from_the_end_of_the_last_one) {
  CooperatingEngines pair;
  constexpr std::size_t bytes = 256 * 1024;
  std::memcpy(pair.source.data(), message_of(0), 2 * bytes);
  ASSERT_EQ(pair.arena.migrate(ByteRange::of(pair.target.data(), 2 * bytes)), Ineligible::none);
  const auto part = [](const Pages& pages, std::size_t number) {
    return UserBuffer{pages.data() + number * bytes, bytes, Layout::contiguous(1)};
  };
  {
    const Engine::Pause sender_in_a_call(pair.sender);
    const Engine::Pause receiver_in_a_call(pair.receiver);
    std::vector<Request*> sends;
    std::vector<Request*> receives;
    for (std::size_t number = 0; number < 2; ++number) {
      sends.push_back(pair.sender.start_send(*pair.from, one, tag, part(pair.source, number), SendMode::standard, here));
      receives.push_back(pair.receiver.start_receive(*pair.to, zero, tag, part(pair.target, number), here));
    }

    while (pair.network.bytes_read(Peer{1}) < bytes) pair.receiver.progress();
    const bool last_is_there = std::memcmp(pair.target.data() + bytes, message_of(0) + bytes, bytes) == 0;
    const bool first_is_untouched =
        std::all_of(pair.target.data(), pair.target.data() + bytes, [](std::byte at) { return at == std::byte{}; });
    std::thread sending([&] { pair.sender.wait_all(sends, here); });
    pair.receiver.wait_all(receives, here);
    sending.join();

    EXPECT_TRUE(last_is_there);
    EXPECT_TRUE(first_is_untouched);
    for (Request* send : sends) pair.sender.take(send);
    for (Request* receive : receives) pair.receiver.take(receive);
  }
  EXPECT_EQ(std::memcmp(pair.target.data(), message_of(0), 2 * bytes), 0);
  pair.sender.drain();
  pair.receiver.drain();
}

/// Two messages into one and the same buffer, of which the receiver copies all: what comes into its last chunk and into its first
/// one, and when.
std::vector<std::string> order_in_one_buffer(ProcessorCaches caches) {
  constexpr std::size_t bytes = 256 * 1024;
  CooperatingEngines pair(caches);
  std::memcpy(pair.source.data(), message_of(0), 2 * bytes);
  EXPECT_EQ(pair.arena.migrate(ByteRange::of(pair.target.data(), bytes)), Ineligible::none);
  std::vector<std::string> order;
  const auto note = [&](std::size_t place, const std::string& where) {
    for (std::size_t number = 0; number < 2; ++number) {
      const std::string event = where + " of " + std::to_string(number);
      const bool is_there = pair.target.data()[place] == message_of(0)[number * bytes + place];
      if (is_there && std::find(order.begin(), order.end(), event) == order.end()) order.push_back(event);
    }
  };
  {
    const Engine::Pause sender_in_a_call(pair.sender);
    const Engine::Pause receiver_in_a_call(pair.receiver);
    std::vector<Request*> sends;
    std::vector<Request*> receives;
    const UserBuffer target{pair.target.data(), bytes, Layout::contiguous(1)};
    for (std::size_t number = 0; number < 2; ++number) {
      const UserBuffer source{pair.source.data() + number * bytes, bytes, Layout::contiguous(1)};
      sends.push_back(pair.sender.start_send(*pair.from, one, tag, source, SendMode::standard, here));
      receives.push_back(pair.receiver.start_receive(*pair.to, zero, tag, target, here));
    }
    while (pair.network.bytes_read(Peer{1}) < 2 * bytes) {
      pair.receiver.progress();
      note(bytes - 1, "end");
      note(1, "beginning");
    }
    pair.receiver.wait_all(receives, here);
    pair.sender.wait_all(sends, here);
    for (Request* send : sends) pair.sender.take(send);
    for (Request* receive : receives) pair.receiver.take(receive);
  }
  pair.sender.drain();
  pair.receiver.drain();
  return order;
}

TEST(Chunks, of_two_messages_for_one_buffer_are_read_from_the_end_of_the_first_one) {
  EXPECT_EQ(order_in_one_buffer({.own_bytes = room, .largest_bytes = room}),
            (std::vector<std::string>{"end of 0", "beginning of 0", "end of 1", "beginning of 1"}));
}

TEST(Chunks, of_two_messages_for_one_buffer_that_leave_the_cache_are_read_in_turns) {
  EXPECT_EQ(order_in_one_buffer({.own_bytes = 100'000, .largest_bytes = room}),
            (std::vector<std::string>{"end of 0", "end of 1", "beginning of 0", "beginning of 1"}));
}

class Chunks_in_polls : public testing::TestWithParam<int> {};

TEST_P(Chunks_in_polls, none_is_copied_before_a_small_message_that_a_thread_waits_for_is_told) {
  LoopbackNetwork network(2, {.messages_per_poll = GetParam()});
  Engine sender(reader(network, Peer{0}));
  Engine receiver(reader(network, Peer{1}));
  Context* from = sender.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, zero);
  Context* to = receiver.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, one);
  const Pages source;
  const Pages target;
  constexpr std::size_t long_messages = 3;
  constexpr std::size_t bytes = room / long_messages;
  const auto part = [](const Pages& pages, std::size_t number) {
    return UserBuffer{pages.data() + number * bytes, bytes, Layout::contiguous(1)};
  };
  int small = 0;
  constexpr int sent = 17;
  const Tag other{4};

  std::vector<Request*> receives;
  std::vector<Request*> sends;
  {
    const Engine::Pause in_a_call(receiver);
    receives = {receiver.start_receive(*to, zero, other,
                                       {reinterpret_cast<std::byte*>(&small), sizeof small, Layout::contiguous(1)}, here)};
    for (std::size_t number = 0; number < long_messages; ++number) {
      receives.push_back(receiver.start_receive(*to, zero, tag, part(target, number), here));
      sends.push_back(sender.start_send(*from, one, tag, part(source, number), SendMode::standard, here));
    }
    sender.send(*from, one, other, reinterpret_cast<const std::byte*>(&sent), sizeof sent, SendMode::standard, here);
    receiver.completion().wait_any(receives);
    EXPECT_EQ(network.bytes_read(Peer{1}), 0u);
    EXPECT_EQ(small, sent);

    receiver.wait_all(receives, here);
    sender.wait_all(sends, here);
    for (Request* send : sends) sender.take(send);
  }
  for (Request* receive : receives) receiver.take(receive);
  EXPECT_EQ(network.bytes_read(Peer{1}), room);
}

INSTANTIATE_TEST_SUITE_P(of, Chunks_in_polls, testing::Values(1, 8),
                         [](const auto& polled) { return std::to_string(polled.param) + "_messages"; });

TEST(Chunks, who_has_copied_some_and_left_still_answers_the_end_of_the_others) {
  CooperatingEngines pair;
  std::atomic<int> sent{0};

  std::thread sending([&] {
    for (int round = 0; round < rounds; ++round) {
      std::memcpy(pair.source.data(), message_of(round), room);
      pair.sender.send(*pair.from, one, tag, pair.source.data(), room, SendMode::standard, here);
      sent = round + 1;
    }
  });
  for (int round = 0; round < rounds; ++round) {
    Request* receive = nullptr;
    {
      const Engine::Pause in_a_call(pair.receiver);
      const std::uint64_t taken_part = pair.receiver.statistics().cooperative;
      receive = pair.receiver.start_receive(*pair.to, zero, tag, {pair.target.data(), room, Layout::contiguous(1)}, here);
      while (pair.receiver.statistics().cooperative == taken_part && !Engine::is_complete(*receive)) pair.receiver.progress();
    }
    while (sent == round) std::this_thread::yield();  // only the helper thread is there to tell the sender
    pair.receiver.wait_all({&receive, 1}, here);
    pair.receiver.take(receive);
    ASSERT_EQ(std::memcmp(pair.target.data(), message_of(round), room), 0) << "round " << round;
  }
  sending.join();
  EXPECT_GT(pair.receiver.statistics().cooperative, 0U);

  // When all that is answered, the end of a send wakes nobody again; nor after a receive that nobody takes part in.
  std::vector<std::byte> elsewhere(100'000);
  for (int round = 0; round < 2; ++round) {
    Request* reply = pair.receiver.start_send(*pair.to, zero, tag, {pair.target.data(), elsewhere.size(), Layout::contiguous(1)},
                                              SendMode::standard, here);
    const std::size_t wakes = pair.network.wakes(Peer{1});
    pair.sender.receive(*pair.from, one, tag, elsewhere.data(), elsewhere.size(), here);
    EXPECT_EQ(pair.network.wakes(Peer{1}), wakes);
    pair.receiver.wait_all({&reply, 1}, here);
    pair.receiver.take(reply);
    std::thread other(
        [&] { pair.sender.send(*pair.from, one, tag, pair.source.data(), elsewhere.size(), SendMode::standard, here); });
    pair.receiver.receive(*pair.to, zero, tag, elsewhere.data(), elsewhere.size(), here);
    other.join();
  }
}

TEST(Chunks, those_that_the_receiver_copies_are_told_as_its_progress) {
  Config config = cooperating();
  config.copy_chunk = 1'000'000;
  CooperatingEngines pair(config);
  ASSERT_EQ(pair.arena.migrate(ByteRange::of(pair.target.data(), room)), Ineligible::none);
  const Traced traced;

  Request* send = nullptr;
  {
    // In a call that does not look at messages, so that all chunks are left to the receiver.
    const Engine::Pause busy(pair.sender);
    send =
        pair.sender.start_send(*pair.from, one, tag, {pair.source.data(), room, Layout::contiguous(1)}, SendMode::standard, here);
    EXPECT_EQ(pair.receiver.receive(*pair.to, zero, tag, pair.target.data(), room, here).bytes, room);
    pair.sender.wait_all({&send, 1}, here);
  }
  pair.sender.take(send);
  EXPECT_EQ(pair.receiver.statistics().cooperative, 1u);
  // A quarter in whole pages, from the back. The first one is told by `complete`.
  constexpr std::size_t chunk = 184 * page_bytes;
  constexpr std::size_t shorter = room - 3 * chunk;
  EXPECT_EQ(traced.of(trace::Kind::progress),
            (Lines{"progress " + std::to_string(shorter), "progress " + std::to_string(shorter + chunk),
                   "progress " + std::to_string(shorter + 2 * chunk)}));
}

}  // namespace
}  // namespace sluice
