// When a blocked send returns early over RDMA: the adapters go on reading behind the guard, through the alias.

#include "runtime/registration/registration_cache.hpp"
#include "tests/unit/support/model_adapter.hpp"
#include "tests/unit/support/send_release.hpp"

namespace sluice {
namespace {

class RdmaSendRelease : public SendReleaseOver, public testing::WithParamInterface<Rendezvous> {
 protected:
  RdmaSendRelease() { rendezvous_ = GetParam(); }
  Transport& transport(Peer self) override { return network_.transport(self); }

  ModelAdapters network_{2};
};

INSTANTIATE_TEST_SUITE_P(Protocols, RdmaSendRelease,
                         testing::Values(Rendezvous::automatic, Rendezvous::rput, Rendezvous::getcqe, Rendezvous::get,
                                         Rendezvous::rdrp),
                         [](const auto& instance) {
                           return instance.param == Rendezvous::automatic ? "automatic" : name_of(instance.param);
                         });

TEST_P(RdmaSendRelease, a_blocked_send_returns_before_its_receiver_comes_and_a_writer_waits) {
  send_with_a_late_receiver_and_write();
}

TEST_P(RdmaSendRelease, the_same_buffer_may_be_sent_again_meanwhile_and_is_registered_once) {
  run(4, [&](Engine& engine, Context& world) {
    earn_a_block(engine, world);
    for (int i = 0; i < 3; ++i) send(engine, world);
    EXPECT_EQ(released(engine), 3u);
    ask_soon(4);
    fill(3);
    EXPECT_FALSE(Engine::Memory::anything_released());
    asking_.join();
    EXPECT_EQ(engine.reports().registrations()->statistics().misses, 1u);
  });
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(is_pattern(received_[i], 2)) << i;
}

TEST_P(RdmaSendRelease, a_loop_over_one_buffer_registers_it_once) {
  constexpr std::size_t messages = 20;
  run(messages, [&](Engine& engine, Context& world) {
    for (unsigned i = 0; i < messages; ++i) {
      ask(i + 1);
      fill(i);
      send(engine, world, SendMode::synchronous);
    }
    const RegistrationCache::Statistics& counts = engine.reports().registrations()->statistics();
    EXPECT_EQ(counts.misses, 1u);
    EXPECT_EQ(counts.misses + counts.hits, messages);
  });
  for (unsigned i = 0; i < messages; ++i) EXPECT_TRUE(is_pattern(received_[i], i)) << i;
}

TEST_P(RdmaSendRelease, a_buffer_that_is_sent_many_times_at_once_is_registered_once) {
  constexpr std::size_t at_once = 8;
  constexpr std::size_t times = 2;
  run(times * at_once, [&](Engine& engine, Context& world) {
    for (unsigned time = 0; time < times; ++time) {
      fill(time);
      std::array<Request*, at_once> sends{};
      for (Request*& request : sends) {
        request = engine.start_send(world, one, tag, {data_, bytes, Layout::contiguous(1)}, SendMode::synchronous, here);
      }
      ask((time + 1) * at_once);
      engine.wait_all(sends, here);
      for (Request* request : sends) engine.take(request);
    }
    EXPECT_TRUE(arena_.is_live(ByteRange::of(data_, bytes)));
    EXPECT_EQ(engine.reports().registrations()->statistics().misses, 1u);
  });
  for (unsigned i = 0; i < times * at_once; ++i) EXPECT_TRUE(is_pattern(received_[i], i / unsigned{at_once})) << i;
}

TEST_P(RdmaSendRelease, a_buffer_that_is_given_back_is_sent_as_it_was) {
  run(2, [&](Engine& engine, Context& world) {
    earn_a_block(engine, world);
    send(engine, world);
    EXPECT_EQ(released(engine), 1u);
    // As the C library unmaps, unseen; and others get the addresses.
    mmap(start_, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    fill(9);
  });
  EXPECT_TRUE(is_pattern(received_[1], 2));
}

}  // namespace
}  // namespace sluice
