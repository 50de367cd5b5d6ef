// Whose caches a receive buffer's lines are in, as two engines that send to each other find it, and what follows for who copies.

#include <gtest/gtest.h>

#include <thread>

#include "runtime/alias_arena.hpp"
#include "runtime/buffer_lines.hpp"
#include "runtime/engine.hpp"
#include "runtime/statistics.hpp"
#include "tests/unit/runtime/patterned_memory.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/two_engines.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

constexpr std::size_t bytes = 400'000;
constexpr std::size_t coop_bytes = 64'000;
constexpr std::size_t coop_own_bytes = 450'000;

class EngineLines : public testing::Test {
 protected:
  void SetUp() override {
    if (own_cache_bytes() < bytes) GTEST_SKIP() << "a processor of this machine keeps " << own_cache_bytes() << " bytes";
  }

  struct Side {
    Side(EngineLines& test, Rendezvous rendezvous, std::size_t processes, Peer self, Rank rank)
        : engine(parts(test, rendezvous, processes, self)),
          context(engine.adopt(ContextId{1}, {Peer{0}, Peer{1}}, rank)),
          other(rank == zero ? one : zero) {}

    static Engine::Parts parts(EngineLines& test, Rendezvous rendezvous, std::size_t processes, Peer self) {
      Config config;
      config.release = ReleaseMode::off;
      config.rendezvous = rendezvous;
      Engine::Parts made = one_of_two(self, test.network.transport(self), config, &test.arena);
      made.calibration.coop_bytes = coop_bytes;
      made.calibration.coop_own_bytes = coop_own_bytes;
      made.processors = {.processes = processes, .processors = 2};
      return made;
    }

    Engine engine;
    Context* context;
    Rank other;
    Memory buffer{100};
  };

  struct Sides {
    explicit Sides(EngineLines& test, Rendezvous rendezvous, std::size_t processes = 2)
        : a(test, rendezvous, processes, Peer{0}, zero), b(test, rendezvous, processes, Peer{1}, one) {
      for (Side* side : {&a, &b}) EXPECT_EQ(test.arena.migrate(side->buffer.range()), Ineligible::none);
    }
    Side a;
    Side b;
  };

  /// From the one's buffer into the other's.
  static void move(Side& from, Side& to) {
    std::thread sending([&] {
      from.engine.send(*from.context, from.other, tag, from.buffer.start(), bytes, SendMode::standard, here);
      from.engine.drain();
    });
    Request* receive =
        to.engine.start_receive(*to.context, to.other, tag, {to.buffer.start(), bytes, Layout::contiguous(1)}, here);
    to.engine.wait_all({&receive, 1}, here);
    to.engine.drain();
    sending.join();
  }
  /// Likewise; whether the sender copied it or a part of it. Both wait in calls meanwhile.
  static bool sender_copied(Side& from, Side& to) {
    const Engine::Pause from_in_a_call(from.engine);
    const Engine::Pause to_in_a_call(to.engine);
    const std::uint64_t written = to.engine.statistics().written;
    move(from, to);
    return to.engine.statistics().written != written;
  }

  LoopbackNetwork network{2};
  AliasArena arena{10000};
};

TEST_F(EngineLines, are_the_receivers_until_its_buffer_is_sent_and_read_by_the_other_side) {
  Sides sides(*this, Rendezvous::rget);
  const auto found = [&](Side& from, Side& to) {
    move(from, to);
    return network.lines_read_into(&to == &sides.b ? Peer{1} : Peer{0});
  };
  EXPECT_EQ(found(sides.a, sides.b), TargetLines::unknown);
  EXPECT_EQ(found(sides.a, sides.b), TargetLines::own);
  EXPECT_EQ(found(sides.b, sides.a), TargetLines::shared) << "what a has sent was read by b";
  EXPECT_EQ(found(sides.a, sides.b), TargetLines::shared) << "and now the other way round";
  EXPECT_EQ(found(sides.a, sides.b), TargetLines::own);
}

TEST_F(EngineLines, that_are_the_receivers_own_let_it_copy_longer_messages_alone) {
  Sides sides(*this, Rendezvous::automatic);
  EXPECT_TRUE(sender_copied(sides.a, sides.b)) << "nothing is known of the buffer";
  EXPECT_FALSE(sender_copied(sides.a, sides.b)) << "it is the receiver's own";
  const std::uint64_t before = sides.a.engine.statistics().bytes_copied;
  while (sides.a.engine.statistics().bytes_copied == before) move(sides.b, sides.a);  // a that comes late finds all of it written
  EXPECT_TRUE(sender_copied(sides.a, sides.b)) << "it was read by the sender";
}

TEST_F(EngineLines, that_are_the_receivers_own_let_it_read_where_processors_are_shared) {
  Sides sides(*this, Rendezvous::automatic, 3);
  EXPECT_TRUE(sender_copied(sides.a, sides.b)) << "nothing is known of the buffer";
  EXPECT_FALSE(sender_copied(sides.a, sides.b)) << "it is the receiver's own";
}

}  // namespace
}  // namespace sluice
