// Who is woken for what comes when the application has left its call, and who copies then.

#include <gtest/gtest.h>

#include <thread>

#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/engine_process.hpp"

namespace sluice {
namespace {

/// The second of two processes whose application is in a call of the host's; its helper thread is all that hears.
struct PeerInHostCall {
  explicit PeerInHostCall(const LoopbackKnobs& knobs = {}) : network(2, knobs), p(network, Peer{0}, 2), q(network, Peer{1}, 2) {}

  LoopbackNetwork network;
  Process p;
  Process q;
};

TEST(Waking, an_announcement_that_finds_no_receive_does_not_wake_a_process_in_a_host_call) {
  PeerInHostCall job;
  std::vector<std::byte> data = pattern(100'000, 1);
  std::vector<std::byte> got(data.size());
  job.q.engine.host_calls().prepare();
  Request* send = job.p.engine.start_send(*job.p.world, one, tag, contiguous(data), SendMode::standard, here);
  EXPECT_EQ(job.network.wakes(Peer{1}), 0U);
  EXPECT_EQ(job.network.under_way(Peer{1}), 1U);

  std::thread other([&] { job.q.receive(zero, tag, got); });
  job.p.engine.wait_all({&send, 1}, here);
  job.p.engine.take(send);
  other.join();
  EXPECT_EQ(got, data);
}

TEST(Waking, a_synchronous_message_is_matched_while_its_receiver_is_in_a_host_call) {
  PeerInHostCall job;
  std::vector<std::byte> data = pattern(100, 1);
  std::vector<std::byte> got(data.size());
  Request* receive = job.q.engine.start_receive(*job.q.world, zero, tag, contiguous(got), here);
  job.q.engine.host_calls().prepare();
  job.p.send(one, tag, data, SendMode::synchronous);  // returns when the helper thread has matched it
  EXPECT_GE(job.network.wakes(Peer{1}), 1U);
  job.q.engine.take(receive);
  EXPECT_EQ(got, data);
}

TEST(Waking, a_process_whose_host_calls_back_is_in_a_host_call_again_afterwards) {
  PeerInHostCall job;
  std::vector<std::byte> data = pattern(100, 1);
  std::vector<std::byte> got(data.size());
  Request* receive = job.q.engine.start_receive(*job.q.world, zero, tag, contiguous(got), here);
  const InHostCall host_call;
  job.q.engine.host_calls().prepare();
  Outcome none;
  EXPECT_FALSE(job.q.engine.probes().probe(*job.q.world, zero, Tag{7}, none));  // the callback
  job.p.send(one, tag, data, SendMode::synchronous);
  job.q.engine.take(receive);
  EXPECT_EQ(got, data);
}

TEST(Waking, who_finds_no_room_at_a_process_in_a_host_call_gets_some) {
  PeerInHostCall job({.room = 2});
  std::vector<std::byte> data = pattern(100, 1);
  std::vector<std::byte> got(data.size());
  job.q.engine.host_calls().prepare();
  constexpr int count = 10;
  for (int i = 0; i < count; ++i) job.p.send(one, tag, data);
  for (int i = 0; i < count; ++i) job.q.receive(zero, tag, got);
  job.p.engine.drain();
  EXPECT_EQ(got, data);
}

/// A process with a processor of its own and none to spare, to which a message has been announced.
class NoProcessorToSpare : public testing::TestWithParam<std::size_t> {
 protected:
  Request* start_receive() { return receiver_.engine.start_receive(*receiver_.world, zero, tag, contiguous(got_), here); }
  void finish(Request* receive) {
    sender_.engine.wait_all({&send_, 1}, here);
    sender_.engine.take(send_);
    receiver_.engine.take(receive);
    EXPECT_EQ(got_, data_);
  }

  LoopbackNetwork network_{2};
  Process sender_{network_, Peer{0}, 2};
  Process receiver_{network_, Peer{1}, 2};
  std::vector<std::byte> data_ = pattern(GetParam(), 1);
  std::vector<std::byte> got_ = std::vector<std::byte>(GetParam());
  Request* send_ = sender_.engine.start_send(*sender_.world, one, tag, contiguous(data_), SendMode::standard, here);
  const std::uint64_t wakeups_ = receiver_.engine.statistics().helper_wakeups;
};

TEST_P(NoProcessorToSpare, leaves_the_copy_to_its_next_call) {
  Request* receive = start_receive();
  EXPECT_FALSE(Engine::is_complete(*receive));
  receiver_.engine.wait_all({&receive, 1}, here);
  EXPECT_EQ(receiver_.engine.statistics().helper_wakeups, wakeups_);
  finish(receive);
}

TEST_P(NoProcessorToSpare, has_its_helper_thread_copy_once_its_peer_waits) {
  Request* receive = start_receive();
  EXPECT_FALSE(Engine::is_complete(*receive));
  sender_.engine.wait_all({&send_, 1}, here);
  while (!Engine::is_complete(*receive)) std::this_thread::yield();  // its fin has left a little before
  EXPECT_GT(receiver_.engine.statistics().helper_wakeups, wakeups_);
  finish(receive);
}

TEST_P(NoProcessorToSpare, does_not_leave_what_a_peer_that_is_asleep_waits_for) {
  network_.transport(Peer{0}).set_wake_mask(WakeMask::sleeper);
  Request* receive = start_receive();
  while (!Engine::is_complete(*receive)) std::this_thread::yield();
  finish(receive);
}

INSTANTIATE_TEST_SUITE_P(Waking, NoProcessorToSpare, testing::Values(100'000, 1'000'000));

TEST(Waking, the_end_of_a_send_does_not_wake_a_process_that_computes) {
  LoopbackNetwork network(2);
  Process p(network, Peer{0}, 2);
  Process q(network, Peer{1}, 2);
  std::vector<std::byte> data = pattern(100'000, 1);
  std::vector<std::byte> got(data.size());
  Request* send = p.engine.start_send(*p.world, one, tag, contiguous(data), SendMode::standard, here);
  q.receive(zero, tag, got);  // reads, and says so
  EXPECT_EQ(network.under_way(Peer{0}), 1U);
  EXPECT_EQ(network.wakes(Peer{0}), 0U);
  p.engine.wait_all({&send, 1}, here);
  p.engine.take(send);
  EXPECT_EQ(got, data);
}

/// Two that leave their calls at once, each with an answer for the other, would wake each other's helper threads for nothing.
TEST(Waking, who_answers_when_it_leaves_a_call_still_polls) {
  LoopbackNetwork network(2, {.can_read = false});
  Process p(network, Peer{0}, 2);
  Process q(network, Peer{1}, 2);
  std::vector<std::byte> data = pattern(1'000'000, 1);
  std::vector<std::byte> got(data.size());
  Request* receive = q.engine.start_receive(*q.world, zero, tag, contiguous(got), here);
  ASSERT_EQ(network.under_way(Peer{0}), 0U);
  // The announcement finds q in a call that ends, and the answer p in one.
  network.transport(Peer{1}).set_wake_mask(WakeMask::none);
  Request* send = p.engine.start_send(*p.world, one, tag, contiguous(data), SendMode::standard, here);
  network.transport(Peer{0}).set_wake_mask(WakeMask::none);
  q.engine.host_calls().prepare();
  EXPECT_EQ(network.under_way(Peer{0}), 1U) << "what its sender is to do";
  EXPECT_EQ(network.sent_while_away(Peer{1}), 0U);

  p.engine.wait_all({&send, 1}, here);
  p.engine.take(send);
  q.engine.wait_all({&receive, 1}, here);
  q.engine.take(receive);
  EXPECT_EQ(got, data);
}

}  // namespace
}  // namespace sluice
