// When a receive that waits is tried to be released, and when it has to wait for its message first.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "runtime/alias/arena.hpp"
#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/engine_process.hpp"
#include "tests/unit/support/traced.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

using trace::Kind;

/// Where the thread has gone to sleep between two tries, though its wait was long by then, the second was on time all the same.
bool slept_no_longer_than_until_a_try(const std::vector<trace::Record>& records) {
  constexpr std::uint64_t spinning_ns = 3'000'000;     // what it has not slept before, at least
  constexpr std::uint64_t idle_sleep_ns = 10'000'000;  // how long it would sleep if there were nothing to try
  std::uint64_t last = 0;
  for (const trace::Record& record : records) {
    if (record.kind != static_cast<std::uint16_t>(Kind::not_released)) continue;
    const std::uint64_t waited = record.duration_ns;
    if (last > spinning_ns && waited > last && waited < 2 * last + idle_sleep_ns / 2) return true;
    last = waited;
  }
  return false;
}

/// Nothing says how late a disturbed machine lets a thread run on: one such wait of many shows it.
TEST(ReleaseTimes, a_thread_that_sleeps_in_its_call_tries_again_when_it_has_waited_for_twice_as_long) {
  LoopbackNetwork network(2);
  AliasArena arena(10'000);
  Config config;
  config.release = ReleaseMode::early;
  Engine receiver(one_of_two(Peer{1}, network.transport(Peer{1}), config, &arena));
  Context* world = receiver.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, one);
  Process sender(network, Peer{0}, 2);
  std::vector<std::byte> data = pattern(100'000, 1);
  std::vector<std::byte> got(data.size());
  bool seen = false;
  constexpr int max_waits = 100;
  for (int i = 0; i < max_waits && !seen; ++i) {
    const Traced traced;
    std::thread sending([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
      sender.send(one, tag, data);
    });
    receiver.receive(*world, any_source, tag, got.data(), got.size(), here);  // which is never released before it is matched
    sending.join();
    EXPECT_EQ(got, data);
    seen = slept_no_longer_than_until_a_try(traced.records());
  }
  EXPECT_TRUE(seen);
  sender.engine.drain();
}

TEST(ReleaseErrors, a_receive_whose_error_would_return_waits_for_its_message) {
  LoopbackNetwork network(2);
  AliasArena arena(10'000);
  Engine receiver(one_of_two(Peer{1}, network.transport(Peer{1}), {}, &arena));
  Context* world = receiver.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, one);
  receiver.contexts().let_errors_return(*world, true);
  Process sender(network, Peer{0}, 2);
  std::vector<std::byte> data = pattern(100'000, 1);
  std::vector<std::byte> got(data.size());
  std::thread sending([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    sender.send(one, tag, data);
  });
  receiver.receive(*world, zero, tag, got.data(), got.size(), here);
  sending.join();
  EXPECT_EQ(got, data);
  EXPECT_NE(receiver.statistics().fallbacks[static_cast<std::size_t>(Fallback::errors_return)], 0u);
  sender.engine.drain();
}

}  // namespace
}  // namespace sluice
