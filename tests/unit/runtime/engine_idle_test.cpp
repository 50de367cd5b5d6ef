// Polls that find nothing, and that none of them overlooks what comes or what is left to do.

#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/support/engine_process.hpp"

namespace sluice {
namespace {

struct Idle : testing::Test {
  LoopbackNetwork network{2};
  Process p{network, Peer{0}, 2};
  Process q{network, Peer{1}, 2};
  std::vector<std::byte> data = pattern(100, 1);
  std::vector<std::byte> got = std::vector<std::byte>(100);

  Request* start_receive() { return q.engine.start_receive(*q.world, zero, tag, contiguous(got), here); }
  /// How many of so many calls of the second process do more than look.
  std::uint64_t polls_of(int calls) {
    const std::uint64_t before = network.polls(Peer{1});
    for (int i = 0; i < calls; ++i) q.engine.progress();
    return network.polls(Peer{1}) - before;
  }
};

TEST_F(Idle, polls_look_only_once_one_has_found_nothing) {
  Request* receive = start_receive();
  EXPECT_GE(polls_of(1), 1u);
  EXPECT_LT(polls_of(1000), 500u);
  EXPECT_GE(polls_of(1000), 1000u / 64 - 1) << "others have their turn";
  p.send(one, tag, data);
  q.engine.wait_all({&receive, 1}, here);
  q.engine.take(receive);
}

TEST_F(Idle, the_next_poll_sees_a_message) {
  for (int round = 0; round < 200; ++round) {
    Request* receive = start_receive();
    polls_of(round);
    EXPECT_FALSE(Engine::is_complete(*receive));
    p.send(one, tag, data);
    q.engine.progress();
    ASSERT_TRUE(Engine::is_complete(*receive));
    q.engine.take(receive);
    EXPECT_EQ(got, data);
    std::fill(got.begin(), got.end(), std::byte{0});
  }
}

TEST_F(Idle, the_next_poll_sees_what_another_call_has_begun) {
  for (int round = 0; round < 200; ++round) {
    polls_of(round);
    Request* receive = q.engine.start_receive(*q.world, one, tag, contiguous(got), here);  // of itself
    polls_of(round % 7);
    q.send(one, tag, data);
    q.engine.progress();
    ASSERT_TRUE(Engine::is_complete(*receive));
    q.engine.take(receive);
  }
}

TEST_F(Idle, a_sender_that_polls_is_at_rest_only_when_nobody_asks_for_it) {
  std::vector<std::byte> large = pattern(200'000, 2);
  std::vector<std::byte> target(large.size());
  Request* send = q.engine.start_send(*q.world, zero, tag, contiguous(large), SendMode::standard, here);
  EXPECT_GE(polls_of(100), 100u);
  std::thread other([&] { p.receive(one, tag, target); });
  while (!Engine::is_complete(*send)) q.engine.progress();
  other.join();
  q.engine.take(send);
  EXPECT_EQ(target, large);
}

TEST_F(Idle, large_messages_come_to_who_only_polls) {
  std::vector<std::byte> large = pattern(200'000, 3);
  std::vector<std::byte> target(large.size());
  for (int round = 0; round < 20; ++round) {
    Request* receive = q.engine.start_receive(*q.world, zero, tag, contiguous(target), here);
    EXPECT_LT(polls_of(1000), 500u);  // the helper thread polls, too
    std::thread other([&] { p.send(one, tag, large); });
    while (!Engine::is_complete(*receive)) q.engine.progress();
    other.join();
    q.engine.take(receive);
    EXPECT_EQ(target, large);
    std::fill(target.begin(), target.end(), std::byte{0});
  }
}

TEST_F(Idle, two_threads_poll_for_a_message_each) {
  constexpr int count = 2'000;
  const auto poll_for = [&](Tag with) {
    std::vector<std::byte> mine(100);
    for (int i = 0; i < count; ++i) {
      Request* receive = q.engine.start_receive(*q.world, zero, with, contiguous(mine), here);
      while (!Engine::is_complete(*receive)) q.engine.progress();
      q.engine.take(receive);
    }
  };
  std::thread first(poll_for, Tag{1});
  std::thread second(poll_for, Tag{2});
  for (int i = 0; i < count; ++i) {
    p.send(one, Tag{1}, data);
    p.send(one, Tag{2}, data);
  }
  first.join();
  second.join();
}

}  // namespace
}  // namespace sluice
