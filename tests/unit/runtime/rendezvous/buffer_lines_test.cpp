// Whose caches a receive buffer's lines are in, as two engines that send to each other find it, and what follows for who copies.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <span>
#include <thread>

#include "runtime/alias/arena.hpp"
#include "runtime/engine.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/machine/calibration.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/patterned_memory.hpp"
#include "tests/unit/support/two_engines.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

constexpr std::size_t bytes = 400'000;
constexpr std::size_t coop_bytes = 64'000;
constexpr std::size_t coop_own_bytes = 450'000;
constexpr ProcessorCaches large{.own_bytes = 2'000'000, .largest_bytes = 4'000'000};
constexpr ProcessorCaches small{.own_bytes = 100'000, .largest_bytes = 4'000'000};

class EngineLines : public testing::Test {
 protected:
  struct Side {
    Side(EngineLines& test, Rendezvous rendezvous, ProcessorCaches caches, Peer self, Rank rank)
        : engine(parts(test, rendezvous, caches, self)),
          context(engine.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, rank)),
          other(rank == zero ? one : zero) {}

    static Engine::Parts parts(EngineLines& test, Rendezvous rendezvous, ProcessorCaches caches, Peer self) {
      Config config;
      config.release = ReleaseMode::off;
      config.rendezvous = rendezvous;
      Engine::Parts made = one_of_two(self, test.network.transport(self), config, &test.arena);
      made.calibration = test.calibration;
      made.processors = {.processes = 2, .processors = 2};
      made.caches = caches;
      return made;
    }

    Engine engine;
    Context* context;
    Rank other;
    Memory buffer{100};
  };

  struct Sides {
    explicit Sides(EngineLines& test, Rendezvous rendezvous, ProcessorCaches caches = large)
        : a(test, rendezvous, caches, Peer{0}, zero), b(test, rendezvous, caches, Peer{1}, one) {
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

  static Calibration usual() {
    Calibration made;
    made.coop_bytes = coop_bytes;
    made.coop_own_bytes = coop_own_bytes;
    return made;
  }

  LoopbackNetwork network{2};
  AliasArena arena{10000};
  Calibration calibration = usual();  // of engines that are made from now on
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

/// The first chunk plainly, the second one streaming: nothing is known of either kind of stores before.
TEST_F(EngineLines, that_a_peer_has_read_and_no_processor_has_for_itself_are_overwritten_both_ways_at_first) {
  Sides sides(*this, Rendezvous::rget, small);
  move(sides.a, sides.b);
  EXPECT_EQ(network.bytes_read_into(Peer{1}, TargetLines::unknown), bytes);
  move(sides.b, sides.a);
  move(sides.a, sides.b);
  EXPECT_GT(network.bytes_read_into(Peer{0}, TargetLines::outer), 0U);
  EXPECT_GT(network.bytes_read_into(Peer{0}, TargetLines::shared), 0U);
  EXPECT_EQ(network.bytes_read_into(Peer{0}, TargetLines::outer) + network.bytes_read_into(Peer{0}, TargetLines::shared), bytes);
}

TEST_F(EngineLines, of_a_message_that_its_receiver_awaits_alone_are_written_both_ways_at_first) {
  for (const ProcessorCaches& caches : {small, large}) {
    const std::size_t plainly = network.bytes_written_into(Peer{0}, TargetLines::outer);
    const std::size_t streaming = network.bytes_written_into(Peer{0}, TargetLines::shared);
    Sides sides(*this, Rendezvous::rput, caches);
    EXPECT_TRUE(sender_copied(sides.a, sides.b));
    EXPECT_GT(network.bytes_written_into(Peer{0}, TargetLines::outer), plainly);
    EXPECT_GT(network.bytes_written_into(Peer{0}, TargetLines::shared), streaming);
  }
}

TEST_F(EngineLines, that_are_the_receivers_own_are_written_past_the_caches) {
  Sides sides(*this, Rendezvous::rput, {.own_bytes = bytes, .largest_bytes = 4'000'000});
  EXPECT_TRUE(sender_copied(sides.a, sides.b));
  const std::size_t before = network.bytes_written_into(Peer{0}, TargetLines::unknown);
  EXPECT_TRUE(sender_copied(sides.a, sides.b));
  EXPECT_EQ(network.bytes_written_into(Peer{0}, TargetLines::unknown) - before, bytes);
}

TEST_F(EngineLines, of_messages_that_are_awaited_together_are_not_asked_for) {
  Sides sides(*this, Rendezvous::rput, small);
  constexpr std::size_t half = bytes / 2;
  std::thread sending([&] {
    for (const std::size_t begin : {std::size_t{0}, half})
      sides.a.engine.send(*sides.a.context, sides.a.other, tag, sides.a.buffer.start() + begin, half, SendMode::standard, here);
    sides.a.engine.drain();
  });
  std::array<Request*, 2> receives{};
  const Engine::Pause in_a_call(sides.b.engine);
  for (std::size_t i = 0; i < receives.size(); ++i) {
    const UserBuffer target{sides.b.buffer.start() + i * half, half, Layout::contiguous(1)};
    receives[i] = sides.b.engine.start_receive(*sides.b.context, sides.b.other, tag, target, here);
  }
  sides.b.engine.wait_all(receives, here);
  sides.b.engine.drain();
  sending.join();
  for (Request* receive : receives) sides.b.engine.take(receive);
  EXPECT_EQ(network.bytes_written_into(Peer{0}, TargetLines::unknown), 2 * half);
}

/// The same buffer, with something else in it.
void write_anew(std::byte* start) { *start = static_cast<std::byte>(std::to_integer<int>(*start) + 1); }

TEST_F(EngineLines, of_a_sender_that_writes_them_anew_are_handed_back_to_it) {
  calibration.copies.handing_back_bytes = 0;
  Sides sides(*this, Rendezvous::rget);
  const auto read = [&] {
    move(sides.a, sides.b);
    return network.lines_read_by(Peer{1});
  };
  EXPECT_EQ(read(), SourceLines::kept);
  EXPECT_EQ(read(), SourceLines::kept) << "as it was";
  write_anew(sides.a.buffer.start());
  EXPECT_EQ(read(), SourceLines::kept) << "nobody could know";
  write_anew(sides.a.buffer.start());
  EXPECT_EQ(read(), SourceLines::handed_back);
  move(sides.b, sides.a);
  EXPECT_EQ(network.lines_read_into(Peer{0}), TargetLines::own) << "b has read them, and has them no longer";
  EXPECT_EQ(read(), SourceLines::kept) << "as it was, again";
  move(sides.b, sides.a);
  EXPECT_EQ(network.lines_read_into(Peer{0}), TargetLines::shared);
}

TEST_F(EngineLines, that_are_written_anew_are_left_to_a_sender_that_is_far) {
  calibration.copies.handing_back_bytes = 0;
  for (const bool far : {true, false}) {
    calibration.far_ns = far ? 1 : 1'000'000'000;
    Sides sides(*this, Rendezvous::automatic);
    const auto copied_by_sender_alone = [&] {
      write_anew(sides.a.buffer.start());
      const std::size_t read = network.bytes_read(Peer{1});
      EXPECT_TRUE(sender_copied(sides.a, sides.b) || network.bytes_read(Peer{1}) != read);
      return network.bytes_read(Peer{1}) - read < bytes / 4;
    };
    for (int i = 0; i < 3; ++i) copied_by_sender_alone();
    EXPECT_EQ(copied_by_sender_alone(), far) << far;
  }
}

/// MPI_Isend of a message that is too short to wake the sender's helper thread for; MPI_Wait once `meanwhile` returns.
template <typename Meanwhile>
std::thread announce(Engine& engine, Context& context, std::span<std::byte> message, const Meanwhile& meanwhile) {
  return std::thread([&engine, &context, message, meanwhile] {
    Request* send = engine.start_send(context, one, tag, message, SendMode::standard, here);
    meanwhile();
    engine.wait_all({&send, 1}, here);
    engine.take(send);
    engine.drain();
  });
}

class EngineShortLines : public EngineLines {
 protected:
  static constexpr std::size_t short_bytes = 40'000;

  EngineShortLines() {
    calibration.copies.handing_back_bytes = 0;
    calibration.far_ns = 1;
  }

  void receive(Sides& sides) { sides.b.engine.receive(*sides.b.context, zero, tag, sides.b.buffer.start(), short_bytes, here); }
  /// Then it is known that they are written anew.
  void prepare(Sides& sides) {
    for (int i = 0; i < 3; ++i) {
      write_anew(sides.a.buffer.start());
      std::thread sending = announce(sides.a.engine, *sides.a.context, message_of(sides), [] {});
      receive(sides);
      sending.join();
    }
  }
  static std::span<std::byte> message_of(Sides& sides) { return {sides.a.buffer.start(), short_bytes}; }
};

TEST_F(EngineShortLines, are_left_to_a_sender_that_comes_into_a_call_soon) {
  network.have_others_come(true);
  Sides sides(*this, Rendezvous::automatic);
  prepare(sides);
  for (int i = 0; i < 3; ++i) {
    write_anew(sides.a.buffer.start());
    const std::size_t waits = network.moments(Peer{1});
    const std::size_t read = network.bytes_read(Peer{1});
    std::atomic<bool> has_left_its_call = false;
    std::thread sending = announce(sides.a.engine, *sides.a.context, message_of(sides), [&] {
      has_left_its_call = true;
      while (network.moments(Peer{1}) == waits) std::this_thread::yield();
    });
    while (!has_left_its_call) std::this_thread::yield();  // it is not waited for while it is in one
    receive(sides);
    sending.join();
    EXPECT_EQ(network.bytes_read(Peer{1}), read);
  }
}

TEST_F(EngineShortLines, are_read_where_the_sender_does_not_come_and_it_is_waited_for_ever_more_rarely) {
  Sides sides(*this, Rendezvous::automatic);
  prepare(sides);
  const std::size_t waits = network.moments(Peer{1});
  for (int i = 0; i < 5; ++i) {
    write_anew(sides.a.buffer.start());
    const std::size_t read = network.bytes_read(Peer{1});
    std::atomic<bool> received = false;
    std::thread sending = announce(sides.a.engine, *sides.a.context, message_of(sides), [&] {
      while (!received) std::this_thread::yield();
    });
    receive(sides);
    received = true;
    sending.join();
    EXPECT_EQ(network.bytes_read(Peer{1}) - read, short_bytes);
  }
  EXPECT_LE(network.moments(Peer{1}) - waits, 2U);
}

}  // namespace
}  // namespace sluice
