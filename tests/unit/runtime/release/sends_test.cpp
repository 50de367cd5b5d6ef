// When a blocked send returns early, and what waits for it then, over the loop-back network.

#include "runtime/host_calls.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/send_release.hpp"

namespace sluice {
namespace {

class SendRelease : public SendReleaseOver {
 protected:
  Transport& transport(Peer self) override { return network_.transport(self); }

  LoopbackNetwork network_{2, {.blocks = &arena_}};
};

TEST_F(SendRelease, a_blocked_send_returns_before_its_receiver_comes_and_a_writer_waits) {
  send_with_a_late_receiver_and_write();
}

TEST_F(SendRelease, what_writes_into_the_buffer_is_settled_after_the_message_and_what_reads_it_at_once) {
  run(2, [&](Engine& engine, Context& world) {
    earn_a_block(engine, world);
    send(engine, world);
    engine.memory().settle(ByteRange::of(data_, bytes), Access::read);
    EXPECT_TRUE(Engine::Memory::anything_released());
    ask_soon(1);
    engine.memory().settle(ByteRange::of(data_, bytes), Access::write);
    EXPECT_EQ(asked_, 1u);
    EXPECT_FALSE(Engine::Memory::anything_released());
    asking_.join();
  });
  EXPECT_EQ(statistics_.sends_released, 1u);
}

TEST_F(SendRelease, whoever_settles_inside_a_call_of_the_hosts_does_not_call_it) {
  static int host_polls = 0;
  host_polls = 0;
  host_.progress = [] { return ++host_polls > 0; };
  run(3, [&](Engine& engine, Context& world) {
    const auto settle_later = [&](std::size_t messages) {
      send(engine, world);
      host_polls = 0;
      ask_soon(messages);
      engine.memory().settle(ByteRange::of(data_, bytes), Access::write);
      asking_.join();
    };
    earn_a_block(engine, world);
    settle_later(1);
    EXPECT_NE(host_polls, 0);
    const InHostCall call;
    settle_later(2);
    EXPECT_EQ(host_polls, 0);
    EXPECT_EQ(released(engine), 2u);
  });
}

TEST_F(SendRelease, the_same_buffer_may_be_sent_again_meanwhile) {
  run(4, [&](Engine& engine, Context& world) {
    earn_a_block(engine, world);
    for (int i = 0; i < 3; ++i) send(engine, world);
    EXPECT_EQ(engine.statistics().sends_released, 3u);
    ask_soon(4);
    fill(3);
    EXPECT_FALSE(Engine::Memory::anything_released());
    asking_.join();
  });
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(is_pattern(received_[i], 2)) << i;
}

TEST_F(SendRelease, a_buffer_that_is_given_back_is_sent_as_it_was) {
  run(2, [&](Engine& engine, Context& world) {
    earn_a_block(engine, world);
    send(engine, world);
    EXPECT_EQ(engine.statistics().sends_released, 1u);
    // As the C library unmaps, unseen; and others get the addresses.
    mmap(start_, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    fill(9);
  });
  EXPECT_TRUE(is_pattern(received_[1], 2));
}

TEST_F(SendRelease, a_synchronous_send_waits_for_its_receiver) {
  run(2, [&](Engine& engine, Context& world) {
    earn_a_block(engine, world);
    ask_soon(1);
    send(engine, world, SendMode::synchronous);
    EXPECT_EQ(asked_, 1u);
    asking_.join();
  });
  EXPECT_EQ(statistics_.sends_released, 0u);
}

TEST_F(SendRelease, it_is_the_call_that_waits_which_is_judged_and_not_the_one_that_began) {
  constexpr CallSite wait{0x77};
  const UserBuffer buffer{data_, bytes, Layout::contiguous(1)};
  run(3, [&](Engine& engine, Context& world) {
    earn_a_block(engine, world);
    std::array<Request*, 2> sends{};
    for (Request*& send : sends) send = engine.start_send(world, one, tag, buffer, SendMode::standard, here);
    engine.wait_all(sends, wait);
    for (Request* send : sends) engine.take(send);
    EXPECT_TRUE(engine.reports().call_sites().empty());
    ask_soon(3);
    fill(3);
    asking_.join();
    const auto sites = engine.reports().call_sites();
    ASSERT_EQ(sites.size(), 1u);
    EXPECT_EQ(sites[0].site.return_address(), wait.return_address());
    EXPECT_EQ(sites[0].calls, 1u);
  });
  EXPECT_EQ(statistics_.sends_released, 2u);
}

TEST_F(SendRelease, nothing_is_released_where_other_threads_may_be_in_calls) {
  concurrent_calls_ = true;
  run(2, [&](Engine& engine, Context& world) {
    earn_a_block(engine, world);
    ask_soon(1);
    send(engine, world);
    EXPECT_EQ(asked_, 1u);
    asking_.join();
  });
  EXPECT_EQ(statistics_.sends_released, 0u);
}

}  // namespace
}  // namespace sluice
