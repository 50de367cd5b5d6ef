// What one small message costs beside the copy of its bytes: one that leaves at once, one that is there when its receive is
// posted, and one that comes while a call waits for it. Each number is an upper bound that the engine meets exactly today; one
// virtual call, locked instruction or allocation more on the path fails.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "runtime/engine/lock.hpp"
#include "tests/unit/support/counting_transport.hpp"
#include "tests/unit/support/engine_process.hpp"
#include "tests/unit/support/patterned_memory.hpp"
#include "tests/unit/support/step_counter.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

struct Bound {
  std::size_t transport_calls;
  std::size_t indirect;  // branches, those to the transport and from there to the engine among them
  std::size_t allocations;
  std::size_t locked;
};

class SmallMessage : public testing::Test {
 protected:
  void SetUp() override {
    if (!allocator_is_glibc) GTEST_SKIP() << "a sanitizer's code does what is counted here, too";
  }

  Engine::Parts parts(bool concurrent_calls) {
    Engine::Parts of = one_of_two(Peer{0}, transport_, {});
    of.concurrent_calls = concurrent_calls;
    return of;
  }
  void send(Engine& engine, Context& world) {
    engine.send(world, one, tag, data_.data(), data_.size(), SendMode::standard, here);
  }
  void receive(Engine& engine, Context& world) { engine.receive(world, one, tag, got_.data(), got_.size(), here); }

  template <class Work>
  void expect_at_most(const Bound& bound, Work&& work) {
    const std::size_t before = transport_.calls();
    const StepCounts counts = count_steps(work);
    EXPECT_LE(transport_.calls() - before, bound.transport_calls);
    EXPECT_LE(counts.indirect, bound.indirect);
    EXPECT_LE(counts.allocations, bound.allocations);
    EXPECT_LE(counts.locked, bound.locked);
    EXPECT_EQ(counts.system_calls, 0u);
    RecordProperty("instructions", static_cast<int>(counts.instructions));
  }
  /// `locked`: instructions for one taking of the engine lock, and giving it back.
  void expect_bounds(Engine& engine, std::size_t locked) {
    Context& world = *engine.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, zero);
    for (int round = 0; round < 4000; ++round) {
      send(engine, world);
      receive(engine, world);
    }
    expect_at_most({3, 3, 0, locked}, [&] { send(engine, world); });
    ASSERT_EQ(transport_.under_way(), 1u);
    expect_at_most({2, 3, 0, locked}, [&] { receive(engine, world); });
    EXPECT_EQ(got_, data_);
    std::fill(got_.begin(), got_.end(), std::byte{0});

    send(engine, world);
    engine.progress();
    expect_at_most({1, 1, 0, locked}, [&] { receive(engine, world); });
    EXPECT_EQ(got_, data_);
  }

  CountingTransport transport_;
  std::vector<std::byte> data_ = pattern(4096, 3);
  std::vector<std::byte> got_ = std::vector<std::byte>(4096);
};

TEST_F(SmallMessage, where_several_threads_may_be_in_calls) {
  Engine engine(parts(true));
  expect_bounds(engine, 2);
}

TEST_F(SmallMessage, where_one_thread_has_the_favour_of_the_lock) {
  if (!EngineLock::prepare_process()) GTEST_SKIP() << "this kernel has no expedited membarrier";
  Engine engine(parts(false));
  expect_bounds(engine, 0);
}

TEST(StepCounter, counts_what_it_says) {
  if (!allocator_is_glibc) GTEST_SKIP();
  std::atomic<int> word{0};
  int (*volatile function)(const char*) = [](const char*) { return 1; };
  void* memory = nullptr;
  std::mutex mutex;
  const StepCounts counts = count_steps([&] {
    word.fetch_add(1);
    word.exchange(3);
    function("");
    memory = malloc(64);
    std::lock_guard lock(mutex);
  });
  free(memory);
  EXPECT_EQ(counts.locked, 3u);
  EXPECT_EQ(counts.indirect, 1u);
  EXPECT_EQ(counts.allocations, 1u);
}

}  // namespace
}  // namespace sluice
