// Which protocol two engines copy a message by when its communicator was told one (hint `sluice_rndv`).

#include <gtest/gtest.h>

#include <thread>

#include "runtime/alias/arena.hpp"
#include "runtime/engine.hpp"
#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/cooperating_engines.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/two_engines.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

TEST(Hint, of_a_communicator_counts_instead_of_the_environment) {
  LoopbackNetwork network(2);
  AliasArena arena{10000};
  Config config;
  config.release = ReleaseMode::off;
  config.rendezvous = Rendezvous::rput;
  Engine sender(one_of_two(Peer{0}, network.transport(Peer{0}), config, &arena));
  Engine receiver(one_of_two(Peer{1}, network.transport(Peer{1}), config, &arena));
  const Pages source;
  const Pages target;
  constexpr std::size_t bytes = 100'000;
  const auto send_all = [&](ContextId id) {
    Context* from = sender.contexts().adopt(id, {Peer{0}, Peer{1}}, zero);
    Context* to = receiver.contexts().adopt(id, {Peer{0}, Peer{1}}, one);
    if (id == ContextId{2}) receiver.contexts().choose_rendezvous(*to, Rendezvous::rget);
    std::thread sending([&] {
      for (int round = 0; round < rounds; ++round) sender.send(*from, one, tag, source.data(), bytes, SendMode::standard, here);
    });
    for (int round = 0; round < rounds; ++round) receiver.receive(*to, zero, tag, target.data(), bytes, here);
    sending.join();
  };

  send_all(ContextId{1});
  const EngineStatistics before = receiver.statistics();
  send_all(ContextId{2});
  sender.drain();
  receiver.drain();

  EXPECT_GT(before.written, 0u);
  EXPECT_EQ(receiver.statistics().written, before.written);
  EXPECT_EQ(receiver.statistics().read, before.read + rounds);
}

}  // namespace
}  // namespace sluice
