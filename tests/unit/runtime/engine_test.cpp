// Two engines, each in its own thread, joined by the loop-back network: the protocols without MPI and without hardware.

#include "runtime/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <thread>

#include "runtime/engine/request.hpp"
#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/engine_process.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {
namespace {

/// Runs one function per process, each in a thread of its own, and lets both drain before either goes.
void run_pair(const LoopbackKnobs& knobs, const std::function<void(Process&)>& first,
              const std::function<void(Process&)>& second) {
  LoopbackNetwork network(2, knobs);
  Process a(network, Peer{0}, 2);
  Process b(network, Peer{1}, 2);
  std::thread other([&] {
    second(b);
    b.engine.drain();
  });
  first(a);
  a.engine.drain();
  other.join();
}

class Delivery : public testing::TestWithParam<std::tuple<std::size_t, LoopbackKnobs>> {};

TEST_P(Delivery, every_byte_arrives_once_and_in_place) {
  const auto& [bytes, knobs] = GetParam();
  auto sent = pattern(bytes, 1);
  std::vector<std::byte> got(bytes + 64, std::byte{0x5a});
  Outcome outcome;

  run_pair(
      knobs, [&](Process& p) { p.send(one, tag, sent); }, [&](Process& p) { outcome = p.receive(zero, tag, got); });

  EXPECT_EQ(outcome.bytes, bytes);
  EXPECT_EQ(outcome.source, zero);
  EXPECT_EQ(outcome.tag, tag);
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), got.begin()));
  EXPECT_TRUE(
      std::all_of(got.begin() + static_cast<std::ptrdiff_t>(bytes), got.end(), [](std::byte b) { return b == std::byte{0x5a}; }));
}

const LoopbackKnobs by_read{};
const LoopbackKnobs by_stream{.can_write = false, .can_read = false};
const LoopbackKnobs read_fails_in_the_middle{.read_budget = 300'000};
const LoopbackKnobs slow_and_narrow{.delay_polls = 5, .room = 2, .can_read = false};

INSTANTIATE_TEST_SUITE_P(Ways, Delivery,
                         testing::Combine(testing::Values(0, 1, 8, 16374, 16384, 16385, 100'000, 1'000'003),
                                          testing::Values(by_read, by_stream, read_fails_in_the_middle, slow_and_narrow)));

/// Counted by the receiver of one message, of which a read falls short.
EngineStatistics statistics_of_short_read(const LoopbackKnobs& knobs) {
  auto sent = pattern(500'000, 1);
  std::vector<std::byte> got(sent.size());
  EngineStatistics counted;

  run_pair(
      knobs, [&](Process& p) { p.send(one, tag, sent); },
      [&](Process& p) {
        p.receive(zero, tag, got);
        counted = p.engine.statistics();
      });

  EXPECT_EQ(got, sent);
  return counted;
}

std::uint64_t number_of(Fallback reason, const EngineStatistics& counted) {
  return counted.fallbacks[static_cast<std::size_t>(reason)];
}

TEST(Engine, a_read_that_stops_at_a_page_under_guard_is_not_called_refused) {
  const EngineStatistics counted = statistics_of_short_read({.read_budget = 300'000, .stops_at_page = true});

  EXPECT_EQ(number_of(Fallback::page_closed, counted), 1u);
  EXPECT_EQ(number_of(Fallback::read_refused, counted), 0u);
}

TEST(Engine, a_read_that_the_kernel_refuses_is_called_refused) {
  const EngineStatistics counted = statistics_of_short_read(read_fails_in_the_middle);

  EXPECT_EQ(number_of(Fallback::read_refused, counted), 1u);
  EXPECT_EQ(number_of(Fallback::page_closed, counted), 0u);
}

TEST(Engine, requests_that_are_given_back_together_are_used_again_in_their_order) {
  run_pair(
      by_read,
      [&](Process& p) {
        for (const std::size_t bytes : {std::size_t{100}, std::size_t{200}, std::size_t{50'000}}) {
          auto message = pattern(bytes, 1);
          p.send(one, tag, message);
        }
      },
      [&](Process& p) {
        std::vector<std::byte> got(50'000);
        const auto start = [&] { return p.engine.start_receive(*p.world, zero, tag, contiguous(got), here); };
        const std::array requests{start(), start()};
        p.engine.wait_all(requests, here);
        EXPECT_EQ(Engine::Completion::peek(*requests[0]).bytes, 100u);
        EXPECT_EQ(Engine::Completion::peek(*requests[1]).bytes, 200u);
        for (Request* request : requests) RequestPool::retire(*request);
        RequestPool::next_of(*requests[0]) = requests[1];
        p.engine.completion().give_back(requests[0], requests[1]);
        Request* const again = start();
        EXPECT_EQ(again, requests[0]);
        p.engine.wait_all({&again, 1}, here);
        EXPECT_EQ(p.engine.take(again).bytes, 50'000u);
      });
}

TEST(Engine, small_and_large_messages_of_one_sender_do_not_overtake_each_other) {
  constexpr int count = 40;
  const auto bytes_of = [](int i) { return i % 3 == 0 ? std::size_t{50'000} : static_cast<std::size_t>(i * 10); };

  run_pair(
      slow_and_narrow,
      [&](Process& p) {
        std::vector<std::vector<std::byte>> data;
        std::vector<Request*> requests;
        for (int i = 0; i < count; ++i) data.push_back(pattern(bytes_of(i), static_cast<unsigned>(i)));
        for (auto& message : data)
          requests.push_back(p.engine.start_send(*p.world, one, tag, contiguous(message), SendMode::standard, here));
        p.engine.wait_all(requests, here);
        for (Request* request : requests) {
          if (request) p.engine.take(request);  // nullptr: sent at once
        }
      },
      [&](Process& p) {
        for (int i = 0; i < count; ++i) {
          std::vector<std::byte> got(60'000);
          const Outcome outcome = p.receive(any_source, any_tag, got);
          ASSERT_EQ(outcome.bytes, bytes_of(i)) << "message " << i;
          const auto expected = pattern(bytes_of(i), static_cast<unsigned>(i));
          ASSERT_TRUE(std::equal(expected.begin(), expected.end(), got.begin()));
        }
      });
}

TEST(Engine, a_persistent_operation_keeps_the_context_of_a_freed_communicator) {
  std::vector<std::byte> got(5000);
  const auto sent = pattern(5000, 3);
  const auto twice = [](auto once) {
    return [once](Process& p) {
      p.engine.contexts().keep(*p.world);
      p.engine.contexts().retire(p.world);
      once(p);
      once(p);
      p.engine.contexts().let_go(*p.world);
    };
  };
  run_pair({}, twice([&](Process& p) {
             auto data = sent;
             p.send(one, tag, data);
           }),
           twice([&](Process& p) {
             std::fill(got.begin(), got.end(), std::byte{});
             p.receive(zero, tag, got);
             EXPECT_EQ(got, sent);
           }));
}

TEST(Engine, a_synchronous_send_of_a_small_message_waits_for_its_match) {
  std::atomic<bool> posted{false};
  run_pair(
      {},
      [&](Process& p) {
        auto data = pattern(100, 1);
        p.send(one, tag, data, SendMode::synchronous);
        EXPECT_TRUE(posted);
      },
      [&](Process& p) {
        Outcome found;
        p.engine.probes().wait_probe(*p.world, zero, tag, found);
        std::vector<std::byte> got(100);
        posted = true;
        p.receive(zero, tag, got);
        EXPECT_EQ(got, pattern(100, 1));
      });
}

TEST(Engine, a_buffered_send_returns_before_its_message_is_received_and_its_buffer_may_be_reused) {
  run_pair(
      {},
      [](Process& p) {
        auto data = pattern(200'000, 9);
        p.send(one, tag, data, SendMode::buffered);
        EXPECT_EQ(p.engine.completion().buffered_bytes(100), 200'100U);
        std::fill(data.begin(), data.end(), std::byte{0});
        auto go = pattern(1, 0);
        p.send(one, Tag{99}, go);
        p.engine.completion().wait_buffered();
        EXPECT_EQ(p.engine.completion().buffered_bytes(100), 0U);
      },
      [](Process& p) {
        std::vector<std::byte> go(1);
        p.receive(zero, Tag{99}, go);
        std::vector<std::byte> got(200'000);
        p.receive(zero, tag, got);
        EXPECT_EQ(got, pattern(200'000, 9));
      });
}

TEST(Engine, a_message_longer_than_the_buffer_fills_it_and_is_reported) {
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{500'000}}) {
    run_pair(
        {},
        [&](Process& p) {
          auto data = pattern(bytes, 2);
          p.send(one, tag, data);
        },
        [&](Process& p) {
          std::vector<std::byte> got(bytes / 2);
          EXPECT_EQ(p.receive(zero, tag, got).failure, Failure::truncated);
          const auto expected = pattern(bytes, 2);
          EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin()));
        });
  }
}

TEST(Engine, a_cancelled_receive_leaves_the_message_to_the_next_one) {
  run_pair(
      {},
      [](Process& p) {
        std::vector<std::byte> go(1);
        p.receive(one, Tag{99}, go);
        auto data = pattern(64, 4);
        p.send(one, tag, data);
      },
      [](Process& p) {
        std::vector<std::byte> never(64);
        Request* request = p.engine.start_receive(*p.world, zero, tag, contiguous(never), here);
        p.engine.completion().cancel(*request);
        ASSERT_TRUE(Engine::is_complete(*request));
        EXPECT_TRUE(p.engine.take(request).cancelled);
        auto go = pattern(1, 0);
        p.send(zero, Tag{99}, go);
        std::vector<std::byte> got(64);
        p.receive(zero, tag, got);
        EXPECT_EQ(got, pattern(64, 4));
      });
}

TEST(Engine, a_matched_probe_takes_the_message_out_of_matching) {
  run_pair(
      {},
      [](Process& p) {
        auto large = pattern(100'000, 1);
        auto small = pattern(10, 2);
        Request* request = p.engine.start_send(*p.world, one, tag, contiguous(large), SendMode::standard, here);
        p.send(one, tag, small);
        Request* const requests[] = {request};
        p.engine.wait_all(requests, here);
        p.engine.take(request);
      },
      [](Process& p) {
        Outcome found;
        Unexpected* message = p.engine.probes().wait_matched_probe(*p.world, any_source, any_tag, found);
        EXPECT_EQ(found.bytes, 100'000U);
        std::vector<std::byte> second(10);
        EXPECT_EQ(p.receive(zero, tag, second).bytes, 10U);
        std::vector<std::byte> first(100'000);
        Request* request = p.engine.start_receive(message, contiguous(first), here);
        Request* const requests[] = {request};
        p.engine.wait_all(requests, here);
        p.engine.take(request);
        EXPECT_EQ(first, pattern(100'000, 1));
      });
}

TEST(Engine, messages_to_itself_arrive_whatever_their_size) {
  LoopbackNetwork network(1);
  Process p(network, Peer{0}, 1);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{1'000'000}}) {
    auto data = pattern(bytes, 3);
    std::vector<std::byte> got(bytes);
    Request* send = p.engine.start_send(*p.world, zero, tag, contiguous(data), SendMode::synchronous, here);
    p.receive(zero, tag, got);
    Request* const requests[] = {send};
    p.engine.wait_all(requests, here);
    p.engine.take(send);
    EXPECT_EQ(got, data);
  }
}

TEST(Engine, messages_of_a_context_that_is_adopted_later_are_kept_for_it) {
  std::atomic<bool> sent{false};
  run_pair(
      {},
      [&](Process& p) {
        Context* late = p.engine.contexts().adopt(ContextId{2}, {Peer{0}, Peer{1}}, zero);
        auto data = pattern(32, 6);
        p.engine.send(*late, one, tag, data.data(), data.size(), SendMode::standard, here);
        sent = true;
      },
      [&](Process& p) {
        while (!sent) p.engine.progress();
        p.engine.progress();
        Context* late = p.engine.contexts().adopt(ContextId{2}, {Peer{0}, Peer{1}}, one);
        std::vector<std::byte> got(32);
        p.engine.receive(*late, zero, tag, got.data(), got.size(), here);
        EXPECT_EQ(got, pattern(32, 6));
      });
}

TEST(Engine, layouts_with_gaps_on_both_sides_carry_the_same_bytes) {
  // Every other 24-byte block here, every other 8-byte block there.
  const auto sender = std::make_shared<Layout>(std::vector<StridedRun>{{0, 24, 48, 5000}}, 48 * 5000);
  const auto receiver = std::make_shared<Layout>(std::vector<StridedRun>{{0, 8, 16, 15000}}, 16 * 15000);
  for (const auto& knobs : {by_read, by_stream, slow_and_narrow}) {
    auto data = pattern(48 * 5000, 1);
    std::vector<std::byte> got(16 * 15000);
    run_pair(
        knobs,
        [&](Process& p) {
          p.engine.send(*p.world, one, tag, UserBuffer{data.data(), 1, sender}, SendMode::standard, here);
        },
        [&](Process& p) {
          p.engine.receive(*p.world, zero, tag, UserBuffer{got.data(), 1, receiver}, here);
        });
    std::vector<std::byte> packed(24 * 5000);
    std::vector<std::byte> expected(24 * 5000);
    LayoutCursor({data.data(), 1, sender}).pack(expected);
    LayoutCursor({got.data(), 1, receiver}).pack(packed);
    ASSERT_EQ(packed, expected);
  }
}

TEST(Engine, several_threads_of_one_process_receive_what_is_meant_for_them) {
  constexpr int threads = 4;
  constexpr int rounds = 50;
  const auto run = [](Process& p, const std::function<void(int)>& body) {
    std::vector<std::thread> team;
    for (int t = 0; t < threads; ++t) team.emplace_back(body, t);
    for (auto& thread : team) thread.join();
    (void)p;
  };
  run_pair(
      by_stream,
      [&](Process& p) {
        run(p, [&](int t) {
          for (int i = 0; i < rounds; ++i) {
            auto data = pattern(static_cast<std::size_t>(i * 1000), static_cast<unsigned>(t));
            p.send(one, Tag{t}, data);
          }
        });
      },
      [&](Process& p) {
        run(p, [&](int t) {
          for (int i = 0; i < rounds; ++i) {
            std::vector<std::byte> got(static_cast<std::size_t>(i * 1000));
            p.receive(zero, Tag{t}, got);
            ASSERT_EQ(got, pattern(got.size(), static_cast<unsigned>(t)));
          }
        });
      });
}

TEST(Engine, the_helper_thread_completes_a_nonblocking_send_while_the_application_computes) {
  std::atomic<bool> received{false};
  run_pair(
      by_stream,
      [&](Process& p) {
        auto data = pattern(400'000, 8);
        Request* request = p.engine.start_send(*p.world, one, tag, contiguous(data), SendMode::standard, here);
        while (!received) std::this_thread::yield();  // no call into the engine
        while (!Engine::is_complete(*request)) std::this_thread::yield();
        p.engine.take(request);
      },
      [&](Process& p) {
        std::vector<std::byte> got(400'000);
        p.receive(zero, tag, got);
        EXPECT_EQ(got, pattern(400'000, 8));
        received = true;
      });
}

}  // namespace
}  // namespace sluice
