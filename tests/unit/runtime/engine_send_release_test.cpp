// A sender with alias blocks and a receiver without, joined by the loop-back network: when a blocked send returns early, and
// what waits for it then.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "runtime/alias_arena.hpp"
#include "runtime/engine.hpp"
#include "runtime/statistics.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

constexpr std::size_t bytes = 200'000;
// Longer than making a block of it takes.
constexpr std::chrono::milliseconds late{20};

class SendRelease : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer has a thread that blocks SIGSEGV, so nothing is released";
#endif
  }
  ~SendRelease() override { munmap(start_, room); }

  Engine::Parts parts(Peer self, bool releases) {
    Config config;
    config.release = releases ? ReleaseMode::early : ReleaseMode::off;
    config.send_release = true;
    return {.self = self,
            .job_size = 2,
            .processes_on_node = 1,
            .concurrent_calls = concurrent_calls_,
            .transport = &network_.transport(self),
            .arena = releases ? &arena_ : nullptr,
            .host = {},
            .config = config};
  }

  /// Runs `sending` here and, beside it, a process that receives `messages` messages into `received_`: each when it is asked to,
  /// the first one late.
  void run(std::size_t messages, const std::function<void(Engine&, Context&)>& sending) {
    Engine receiver(parts(Peer{1}, false));
    Engine sender(parts(Peer{0}, true));
    std::thread receiving([&] {
      Context* world = receiver.adopt(ContextId{1}, {Peer{0}, Peer{1}}, one);
      for (std::size_t i = 0; i < messages; ++i) {
        if (i == 0) std::this_thread::sleep_for(late);
        while (i > asked_.load()) std::this_thread::yield();
        received_.emplace_back(bytes);
        receiver.receive(*world, zero, tag, received_.back().data(), bytes, here);
      }
      receiver.drain();
    });
    sending(sender, *sender.adopt(ContextId{1}, {Peer{0}, Peer{1}}, zero));
    ask(messages);
    sender.drain();
    statistics_ = sender.statistics();
    receiving.join();
  }

  void fill(unsigned seed) {
    for (std::size_t i = 0; i < bytes; ++i) data_[i] = value(seed, i);
  }
  static std::byte value(unsigned seed, std::size_t i) { return static_cast<std::byte>((i * 7 + i / 251 + seed) & 0xff); }
  [[nodiscard]] bool is_pattern(const std::vector<std::byte>& message, unsigned seed) const {
    for (std::size_t i = 0; i < bytes; ++i) {
      if (message[i] != value(seed, i)) return false;
    }
    return true;
  }
  void send(Engine& engine, Context& world, SendMode mode = SendMode::standard) {
    engine.send(world, one, tag, data_, bytes, mode, here);
  }
  /// The buffer is a block after the first message, for which the sender has waited.
  void earn_a_block(Engine& engine, Context& world) {
    fill(1);
    send(engine, world);
    fill(2);
  }
  void ask(std::size_t messages) { asked_ = messages; }
  void ask_soon(std::size_t messages) {
    asking_ = std::thread([this, messages] {
      std::this_thread::sleep_for(late);
      ask(messages);
    });
  }

  static constexpr std::size_t room = 64 * page_bytes;
  void* start_ = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::byte* data_ = static_cast<std::byte*>(start_) + 100;  // shares its first and last page
  bool concurrent_calls_ = false;
  std::atomic<std::size_t> asked_{0};
  std::vector<std::vector<std::byte>> received_;
  std::thread asking_;
  EngineStatistics statistics_;
  AliasArena arena_{10000};
  LoopbackNetwork network_{2, {.blocks = &arena_}};
};

TEST_F(SendRelease, a_blocked_send_returns_before_its_receiver_comes_and_a_writer_waits) {
  run(2, [&](Engine& engine, Context& world) {
    earn_a_block(engine, world);
    send(engine, world);
    EXPECT_EQ(engine.statistics().sends_released, 1u);
    EXPECT_EQ(data_[bytes / 2], value(2, bytes / 2));
    ask_soon(1);
    data_[bytes / 2] = std::byte{};
    EXPECT_EQ(asked_, 1u);
    asking_.join();
  });
  EXPECT_TRUE(is_pattern(received_[1], 2));
}

TEST_F(SendRelease, what_writes_into_the_buffer_is_settled_after_the_message_and_what_reads_it_at_once) {
  run(2, [&](Engine& engine, Context& world) {
    earn_a_block(engine, world);
    send(engine, world);
    engine.settle(ByteRange::of(data_, bytes), Access::read);
    EXPECT_TRUE(Engine::anything_released());
    ask_soon(1);
    engine.settle(ByteRange::of(data_, bytes), Access::write);
    EXPECT_EQ(asked_, 1u);
    EXPECT_FALSE(Engine::anything_released());
    asking_.join();
  });
  EXPECT_EQ(statistics_.sends_released, 1u);
}

TEST_F(SendRelease, the_same_buffer_may_be_sent_again_meanwhile) {
  run(4, [&](Engine& engine, Context& world) {
    earn_a_block(engine, world);
    for (int i = 0; i < 3; ++i) send(engine, world);
    EXPECT_EQ(engine.statistics().sends_released, 3u);
    ask_soon(4);
    fill(3);
    EXPECT_FALSE(Engine::anything_released());
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
