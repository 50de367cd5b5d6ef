// A receiver with alias blocks that releases its receives, and a sender, joined by the model of an adapter: what comes behind the
// guard, and when its pages open.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "runtime/alias/arena.hpp"
#include "runtime/engine.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/registration/registration_cache.hpp"
#include "tests/unit/support/model_adapter.hpp"
#include "tests/unit/support/thread_beside.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

constexpr CallSite here{1};
constexpr Tag tag{3};
constexpr std::size_t bytes = 1'000'000;

std::byte value(unsigned seed, std::size_t i) { return static_cast<std::byte>((i * 7 + i / 251 + seed) & 0xff); }

class RdmaRelease : public testing::TestWithParam<Rendezvous> {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer has a thread that blocks SIGSEGV, so nothing is released";
#endif
  }
  ~RdmaRelease() override { munmap(start_, room); }

  Engine::Parts parts(Peer self, bool releases) {
    Config config;
    config.release = releases ? mode_ : ReleaseMode::off;
    config.rendezvous = GetParam();
    config.rdrp_chunk = 32 * 1024;
    return one_of_two(self, network_in_use_->transport(self), config, releases ? &arena_ : nullptr);
  }

  /// Runs `receiving` here and, beside it, a process that sends `messages` messages, message i of seed i, each when it is asked
  /// to.
  void run(std::size_t messages, const std::function<void(Engine&, Context&)>& receiving) {
    Engine sender(parts(Peer{0}, false));
    Engine receiver(parts(Peer{1}, true));
    std::thread sending = beside([&] {
      Context* world = sender.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, Rank{0});
      for (std::size_t message = 0; message < messages; ++message) {
        std::vector<std::byte> data(message_bytes_);
        for (std::size_t i = 0; i < message_bytes_; ++i) data[i] = expected(static_cast<unsigned>(message), i);
        while (asked_ <= message) std::this_thread::yield();
        sender.send(*world, Rank{1}, tag, data.data(), message_bytes_, SendMode::standard, here);
      }
      sender.drain();
    });
    receiving(receiver, *receiver.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, Rank{1}));
    asked_ = messages;
    receiver.memory().settle_all();
    receiver.drain();
    statistics_ = receiver.statistics();
    if (receiver.reports().registrations()) registrations_ = receiver.reports().registrations()->statistics();
    sending.join();
  }
  /// The next message, whose sender comes once the call has returned: which is only by a release. Hence a call site of its own:
  /// where protecting takes long at the moment, releases do not pay, and after three of them their site would rest.
  void receive(Engine& engine, Context& world) {
    engine.receive(world, Rank{0}, tag, data_, bytes, CallSite{here.return_address() + asked_});
    ++asked_;
  }
  [[nodiscard]] std::byte expected(unsigned seed, std::size_t i) const {
    return same_bytes_ ? static_cast<std::byte>(seed) : value(seed, i);
  }
  [[nodiscard]] bool holds(unsigned seed) const {
    for (std::size_t i = 0; i < message_bytes_; ++i) {
      if (data_[i] != expected(seed, i)) return false;
    }
    return true;
  }

  static constexpr std::size_t room = 260 * page_bytes;
  void* start_ = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::byte* data_ = static_cast<std::byte*>(start_) + 100;  // shares its first and last page
  std::atomic<std::size_t> asked_{0};
  EngineStatistics statistics_;
  RegistrationCache::Statistics registrations_;
  AliasArena arena_{10000};
  ModelAdapters network_{2};
  ModelAdapters* network_in_use_ = &network_;
  std::size_t message_bytes_ = bytes;
  ReleaseMode mode_ = ReleaseMode::automatic;
  bool same_bytes_ = false;  // all bytes of a message are alike
};

INSTANTIATE_TEST_SUITE_P(Protocols, RdmaRelease,
                         testing::Values(Rendezvous::automatic, Rendezvous::rput, Rendezvous::getcqe, Rendezvous::get,
                                         Rendezvous::rdrp, Rendezvous::putnr, Rendezvous::put),
                         [](const auto& instance) {
                           return instance.param == Rendezvous::automatic ? "automatic" : name_of(instance.param);
                         });

TEST_P(RdmaRelease, a_blocked_receive_returns_before_its_message_and_whoever_touches_it_waits) {
  run(3, [&](Engine& engine, Context& world) {
    for (unsigned message = 0; message < 3; ++message) {
      receive(engine, world);
      EXPECT_TRUE(holds(message)) << message;
    }
  });
  EXPECT_EQ(statistics_.released, 3u);
  EXPECT_EQ(statistics_.streamed, 0u);
}

// Whether it is released depends on what a release costs on this machine, which is measured.
TEST_P(RdmaRelease, a_receive_whose_data_is_on_its_way_loses_nothing_by_a_release) {
  run(2, [&](Engine& engine, Context& world) {
    receive(engine, world);
    EXPECT_TRUE(holds(0));  // and is a block from now on
    engine.memory().settle_all();
    network_.hold_after(2 * page_bytes);
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      network_.go_on();
    });
    ++asked_;
    engine.receive(world, Rank{0}, tag, data_, bytes, here);
    EXPECT_TRUE(holds(1));
    later.join();
  });
}

TEST_P(RdmaRelease, errors_that_return_no_longer_keep_a_receive_from_its_release) {
  run(1, [&](Engine& engine, Context& world) {
    engine.contexts().let_errors_return(world, true);
    engine.contexts().let_errors_return(world, false);
    receive(engine, world);
    EXPECT_TRUE(holds(0));
  });
  EXPECT_EQ(statistics_.released_unmatched, 1u);
}

TEST_P(RdmaRelease, who_asks_for_early_releases_gets_them_where_errors_return_too) {
  mode_ = ReleaseMode::early;
  run(1, [&](Engine& engine, Context& world) {
    engine.contexts().let_errors_return(world, true);
    receive(engine, world);
    EXPECT_TRUE(holds(0));
  });
  EXPECT_EQ(statistics_.released_unmatched, 1u);
}

TEST_P(RdmaRelease, what_shares_a_page_with_the_message_is_kept) {
  run(1, [&](Engine& engine, Context& world) {
    data_[-1] = std::byte{1};
    data_[bytes] = std::byte{2};
    receive(engine, world);
    engine.memory().settle_all();
    EXPECT_TRUE(holds(0));
    EXPECT_EQ(data_[-1], std::byte{1});
    EXPECT_EQ(data_[bytes], std::byte{2});
  });
}

TEST_P(RdmaRelease, a_buffer_that_is_used_again_is_registered_once) {
  run(4, [&](Engine& engine, Context& world) {
    for (unsigned message = 0; message < 4; ++message) {
      receive(engine, world);
      engine.memory().settle_all();
      EXPECT_TRUE(holds(message)) << message;
    }
  });
  EXPECT_EQ(registrations_.misses, 1u);
  EXPECT_GE(registrations_.hits, 3u);
}

/// By chunks of rdrp, or by sentinels where one transfer brings all; putnr and put end as getcqe and get when they are released.
TEST_P(RdmaRelease, the_first_pages_open_while_the_last_are_still_under_guard) {
  run(1, [&](Engine& engine, Context& world) {
    network_.hold_after(bytes / 2);
    receive(engine, world);
    EXPECT_EQ(data_[5 * page_bytes], value(0, 5 * page_bytes));
    EXPECT_TRUE(Engine::Memory::anything_released());
    network_.go_on();
    EXPECT_TRUE(holds(0));
  });
}

class RdmaReleaseBySentinels : public RdmaRelease {};
INSTANTIATE_TEST_SUITE_P(Protocols, RdmaReleaseBySentinels,
                         testing::Values(Rendezvous::rput, Rendezvous::getcqe, Rendezvous::get),
                         [](const auto& instance) { return name_of(instance.param); });

TEST_P(RdmaReleaseBySentinels, pages_open_nearly_as_they_arrive) {
  constexpr std::size_t there = 100 * page_bytes;
  run(1, [&](Engine& engine, Context& world) {
    network_.hold_after(there + 10 * page_bytes);
    receive(engine, world);
    EXPECT_EQ(data_[there], value(0, there));
    EXPECT_TRUE(Engine::Memory::anything_released());
    network_.go_on();
    EXPECT_TRUE(holds(0));
  });
  EXPECT_GT(statistics_.pages_seen, 90u);
}

TEST_P(RdmaReleaseBySentinels, data_that_is_the_sentinel_itself_arrives_all_the_same) {
  constexpr std::size_t messages = 300;  // the sentinel is random: some are like it
  same_bytes_ = true;
  message_bytes_ = 20 * 1024;
  run(messages, [&](Engine& engine, Context& world) {
    receive(engine, world);
    EXPECT_TRUE(holds(0));
    for (unsigned message = 1; message < messages; ++message) {
      ++asked_;
      engine.receive(world, Rank{0}, tag, data_, bytes, here);
      EXPECT_TRUE(holds(message)) << message;
    }
  });
}

TEST_P(RdmaReleaseBySentinels, an_adapter_that_places_in_any_order_is_not_looked_at) {
  ModelAdapters shuffled(2, {.shuffled = true});
  network_in_use_ = &shuffled;
  run(2, [&](Engine& engine, Context& world) {
    for (unsigned message = 0; message < 2; ++message) {
      receive(engine, world);
      EXPECT_TRUE(holds(message));
    }
  });
  EXPECT_EQ(statistics_.pages_seen, 0u);
}

}  // namespace
}  // namespace sluice
