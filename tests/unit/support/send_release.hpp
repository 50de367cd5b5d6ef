// A sender with alias blocks and a receiver without, joined by whatever network a test has: what a released send is tested with.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "runtime/alias/arena.hpp"
#include "runtime/engine.hpp"
#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/thread_beside.hpp"
#include "tests/unit/support/two_engines.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {

inline constexpr std::size_t bytes = 200'000;
// Longer than making a block of it takes.
inline constexpr std::chrono::milliseconds late{20};

class SendReleaseOver : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer has a thread that blocks SIGSEGV, so nothing is released";
#endif
  }
  ~SendReleaseOver() override { munmap(start_, room); }

  virtual Transport& transport(Peer self) = 0;

  Engine::Parts parts(Peer self, bool releases) {
    Config config;
    config.release = releases ? ReleaseMode::early : ReleaseMode::off;
    config.send_release = true;
    config.rendezvous = rendezvous_;
    Engine::Parts made = one_of_two(self, transport(self), config, releases ? &arena_ : nullptr);
    made.concurrent_calls = concurrent_calls_;
    if (releases) made.host = host_;
    return made;
  }

  /// Runs `sending` here and, beside it, a process that receives `messages` messages into `received_`: each when it is asked to,
  /// the first one late.
  void run(std::size_t messages, const std::function<void(Engine&, Context&)>& sending) {
    Engine receiver(parts(Peer{1}, false));
    Engine sender(parts(Peer{0}, true));
    std::thread receiving = beside([&] {
      Context* world = receiver.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, one);
      for (std::size_t i = 0; i < messages; ++i) {
        if (i == 0) std::this_thread::sleep_for(late);
        while (i > asked_.load()) std::this_thread::yield();
        received_.emplace_back(bytes);
        receiver.receive(*world, zero, tag, received_.back().data(), bytes, here);
      }
      receiver.drain();
    });
    sending(sender, *sender.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, zero));
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
  /// The buffer is a block after the first message, for which the sender has waited, in the call or in writing to it.
  void earn_a_block(Engine& engine, Context& world) {
    fill(1);
    send(engine, world);
    fill(2);
    released_before_ = engine.statistics().sends_released;
  }
  /// Sends that were released after earn_a_block.
  [[nodiscard]] std::uint64_t released(const Engine& engine) const {
    return engine.statistics().sends_released - released_before_;
  }
  /// The send returns before its receiver comes; reading is free, writing waits.
  void send_with_a_late_receiver_and_write() {
    run(2, [&](Engine& engine, Context& world) {
      earn_a_block(engine, world);
      send(engine, world);
      EXPECT_EQ(released(engine), 1u);
      EXPECT_EQ(data_[bytes / 2], value(2, bytes / 2));
      ask_soon(1);
      data_[bytes / 2] = std::byte{};
      EXPECT_EQ(asked_, 1u);
      asking_.join();
    });
    EXPECT_TRUE(is_pattern(received_[1], 2));
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
  HostHooks host_;  // of the sender
  Rendezvous rendezvous_ = Rendezvous::automatic;
  std::uint64_t released_before_ = 0;
  std::atomic<std::size_t> asked_{0};
  std::vector<std::vector<std::byte>> received_;
  std::thread asking_;
  EngineStatistics statistics_;
  AliasArena arena_{10000};
};

}  // namespace sluice
