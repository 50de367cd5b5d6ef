// putnr and put among everything else, in random order on the model of an adapter: several processes, communicators, tags,
// wildcards, small and large messages, receives that are late, early or cancelled. Whoever gets which message must be what MPI
// says, every byte must be there, and nothing may be written to a buffer after its receive is over.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "runtime/engine.hpp"
#include "runtime/engine/statistics.hpp"
#include "tests/unit/support/model_adapter.hpp"

namespace sluice {
namespace {

constexpr CallSite here{1};
constexpr std::size_t processes = 3;
constexpr std::size_t communicators = 2;
constexpr std::size_t tags = 2;
constexpr std::size_t usual_bytes = 6000;
constexpr std::size_t eager_limit = 500;
constexpr std::byte untouched{0xee};

struct Sent {
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t communicator = 0;
  int tag = 0;
  std::vector<std::byte> data;
  Request* request = nullptr;
  std::size_t receive = ~std::size_t{0};  // that got it
};

struct Received {
  std::size_t at = 0;
  std::size_t communicator = 0;
  int source = 0;  // wanted; -1: any
  int tag = 0;     // likewise
  std::vector<std::byte> buffer;
  std::vector<std::byte> expected;  // once it is over
  Request* request = nullptr;
  bool cancelled = false;
  std::size_t message = ~std::size_t{0};

  [[nodiscard]] bool accepts(const Sent& sent) const {
    return at == sent.to && communicator == sent.communicator && (source < 0 || source == static_cast<int>(sent.from)) &&
           (tag < 0 || tag == sent.tag);
  }
};

class Job {
 public:
  Job(unsigned seed, Rendezvous protocol, const AdapterKnobs& knobs)
      : random_(seed), calm_(seed % 2 == 0), network_(processes, by_hand(knobs)) {
    Config config;
    config.rendezvous = protocol;
    config.eager_limit = eager_limit;
    config.release = ReleaseMode::off;
    config.rtr_wait = std::array<std::size_t, 3>{0, 5, 60}[seed % 3];
    std::vector<Peer> group;
    for (std::size_t i = 0; i < processes; ++i) group.push_back(static_cast<Peer>(i));
    for (std::size_t i = 0; i < processes; ++i) {
      engines_.push_back(std::make_unique<Engine>(Engine::Parts{.self = static_cast<Peer>(i),
                                                                .job_size = processes,
                                                                .transport = &network_.transport(static_cast<Peer>(i)),
                                                                .arena = nullptr,
                                                                .host = {},
                                                                .config = config}));
      for (std::size_t c = 0; c < communicators; ++c) {
        contexts_[i][c] = engines_[i]->contexts().adopt(ContextId{c + 1}, group, static_cast<Rank>(i));
      }
    }
  }
  ~Job() { network_.let_helpers_go(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      const int what = below(calm_ ? 40 : 39);
      if (what < 4) {
        send();
      } else if (what < 8) {
        receive(below(processes), below(communicators), below(12) == 0 ? -1 : below(processes),
                below(12) == 0 ? -1 : below(tags));
      } else if (what < (calm_ ? 20 : 15)) {
        network_.step();
      } else if (what < 35) {
        engines_[static_cast<std::size_t>(below(processes))]->progress();
      } else if (what < 36) {
        cancel();
      } else {
        settle();
      }
    }
    finish();
  }

  void check() {
    for (const Received& received : received_) ASSERT_EQ(received.buffer, received.expected) << "written to after its end";
    for (std::size_t m = 0; m < sent_.size(); ++m) {
      ASSERT_NE(sent_[m].receive, ~std::size_t{0}) << "message " << m << " is lost";
      check_order(m);
    }
  }

  [[nodiscard]] std::size_t written() const {
    std::size_t count = 0;
    for (const auto& engine : engines_) {
      count += engine->statistics().rdma[static_cast<std::size_t>(Rendezvous::put)] +
               engine->statistics().rdma[static_cast<std::size_t>(Rendezvous::putnr)];
    }
    return count;
  }
  [[nodiscard]] std::size_t crossed() const {
    std::size_t count = 0;
    for (const auto& engine : engines_) count += engine->statistics().rtrs_crossed;
    return count;
  }

 private:
  static AdapterKnobs by_hand(AdapterKnobs knobs) {
    knobs.by_hand = true;
    return knobs;
  }
  template <class Number>
  int below(Number limit) {
    return std::uniform_int_distribution<int>(0, static_cast<int>(limit) - 1)(random_);
  }

  void send() {
    Sent message;
    message.from = static_cast<std::size_t>(below(processes));
    message.to = (message.from + 1 + static_cast<std::size_t>(below(processes - 1))) % processes;
    message.communicator = static_cast<std::size_t>(below(communicators));
    message.tag = below(tags);
    constexpr std::array<std::size_t, 6> sizes{8, 300, 2000, usual_bytes, usual_bytes, usual_bytes};
    message.data.resize(sizes[static_cast<std::size_t>(below(sizes.size()))]);
    for (std::byte& byte : message.data) byte = static_cast<std::byte>(below(256));
    if (below(2) == 0) message.data.back() = std::byte{0};
    const std::uint32_t id = static_cast<std::uint32_t>(sent_.size());
    std::memcpy(message.data.data(), &id, sizeof id);
    sent_.push_back(std::move(message));
    Sent& kept = sent_.back();
    const SendMode mode = below(4) == 0 ? SendMode::synchronous : SendMode::standard;
    kept.request = engines_[kept.from]->start_send(*contexts_[kept.from][kept.communicator], static_cast<Rank>(kept.to),
                                                   static_cast<Tag>(kept.tag), buffer(kept.data), mode, here);
  }

  void receive(int at, int communicator, int source, int tag) {
    if (source == at) source = (at + 1) % static_cast<int>(processes);
    Received posted;
    posted.at = static_cast<std::size_t>(at);
    posted.communicator = static_cast<std::size_t>(communicator);
    posted.source = source;
    posted.tag = tag;
    posted.buffer.assign(usual_bytes + (below(4) == 0 ? 50 : 0), untouched);
    received_.push_back(std::move(posted));
    Received& kept = received_.back();
    kept.request = engines_[kept.at]->start_receive(*contexts_[kept.at][kept.communicator],
                                                    source < 0 ? any_source : static_cast<Rank>(source),
                                                    tag < 0 ? any_tag : static_cast<Tag>(tag), buffer(kept.buffer), here);
  }

  static UserBuffer buffer(std::vector<std::byte>& data) { return {data.data(), data.size(), Layout::contiguous(1)}; }

  void cancel() {
    if (received_.empty()) return;
    Received& some = received_[static_cast<std::size_t>(below(received_.size()))];
    if (some.request) engines_[some.at]->completion().cancel(*some.request);
    collect();
  }

  /// Takes what is complete.
  void collect() {
    for (Sent& message : sent_) {
      if (!message.request || !Engine::is_complete(*message.request)) continue;
      engines_[message.from]->take(message.request);
      message.request = nullptr;
    }
    for (std::size_t i = 0; i < received_.size(); ++i) {
      if (received_[i].request && Engine::is_complete(*received_[i].request)) take(i);
    }
  }

  void take(std::size_t index) {
    Received& receive = received_[index];
    const Outcome outcome = engines_[receive.at]->take(receive.request);
    receive.request = nullptr;
    receive.expected = receive.buffer;
    receive.cancelled = outcome.cancelled;
    if (outcome.cancelled) {
      ASSERT_EQ(std::count(receive.buffer.begin(), receive.buffer.end(), untouched),
                static_cast<std::ptrdiff_t>(receive.buffer.size()));
      return;
    }
    std::uint32_t id = 0;
    std::memcpy(&id, receive.buffer.data(), sizeof id);
    ASSERT_LT(id, sent_.size());
    Sent& message = sent_[id];
    ASSERT_EQ(message.receive, ~std::size_t{0}) << "message " << id << " came twice";
    message.receive = index;
    receive.message = id;
    ASSERT_TRUE(receive.accepts(message));
    ASSERT_EQ(outcome.bytes, message.data.size());
    ASSERT_EQ(static_cast<std::size_t>(outcome.source), message.from);
    ASSERT_EQ(static_cast<int>(outcome.tag), message.tag);
    ASSERT_TRUE(std::equal(message.data.begin(), message.data.end(), receive.buffer.begin()));
    ASSERT_EQ(
        std::count(receive.buffer.begin() + static_cast<std::ptrdiff_t>(message.data.size()), receive.buffer.end(), untouched),
        static_cast<std::ptrdiff_t>(receive.buffer.size() - message.data.size()));
  }

  void settle() {
    constexpr int rounds = 3;
    do {
      for (int i = 0; i < rounds; ++i) {
        for (auto& engine : engines_) engine->progress();
      }
    } while (network_.step());
  }

  void run_out() {
    constexpr int rounds = 3;
    for (int round = 0; round < rounds; ++round) {
      settle();
      std::this_thread::sleep_for(std::chrono::microseconds(100));  // who waits for an announcement has waited long enough
    }
    collect();
  }

  /// A receive for every message that is left, and none for receives that are.
  void finish() {
    run_out();
    for (bool found = true; found;) {
      found = false;
      for (std::size_t at = 0; at < processes; ++at) {
        for (std::size_t c = 0; c < communicators; ++c) {
          Outcome outcome;
          if (!engines_[at]->probes().probe(*contexts_[at][c], any_source, any_tag, outcome)) continue;
          found = true;
          receive(static_cast<int>(at), static_cast<int>(c), -1, -1);
        }
      }
      run_out();
    }
    for (Received& left : received_) {
      if (left.request) engines_[left.at]->completion().cancel(*left.request);
    }
    run_out();
    for (const Received& left : received_) ASSERT_EQ(left.request, nullptr);
    for (const Sent& left : sent_) ASSERT_EQ(left.request, nullptr);
  }

  /// MPI's order, against every other message of the same pair and every other receive of the same process.
  void check_order(std::size_t m) {
    const Sent& message = sent_[m];
    const std::size_t r = message.receive;
    for (std::size_t earlier = 0; earlier < m; ++earlier) {
      const Sent& other = sent_[earlier];
      if (other.from != message.from || !received_[r].accepts(other)) continue;
      ASSERT_LT(other.receive, r) << "message " << earlier << " was overtaken by " << m;
    }
    for (std::size_t first = 0; first < r; ++first) {
      const Received& other = received_[first];
      if (other.cancelled || !other.accepts(message)) continue;
      ASSERT_NE(other.message, ~std::size_t{0});
      if (sent_[other.message].from != message.from) continue;
      ASSERT_LT(other.message, m) << "receive " << first << " was passed over for " << r;
    }
  }

  std::mt19937 random_;
  const bool calm_;  // now and then all that is under way arrives
  ModelAdapters network_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::array<std::array<Context*, communicators>, processes> contexts_{};
  std::deque<Sent> sent_;
  std::deque<Received> received_;
};

struct Happened {
  std::size_t written = 0;
  std::size_t crossed = 0;
};

/// Jobs of so many steps each.
Happened run_jobs(Rendezvous protocol, const AdapterKnobs& knobs, unsigned jobs) {
  constexpr int steps = 400;
  Happened happened;
  // Others with --gtest_shuffle --gtest_random_seed=N.
  const unsigned first = 1 + jobs * static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed());
  for (unsigned seed = first; seed < first + jobs && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Job job(seed, protocol, knobs);
    job.run(steps);
    if (!testing::Test::HasFatalFailure()) job.check();
    happened.written += job.written();
    happened.crossed += job.crossed();
  }
  return happened;
}

#ifdef __SANITIZE_THREAD__
constexpr unsigned jobs = 8;  // by hand, in one thread
#else
constexpr unsigned jobs = 30;
#endif

class PutMatching : public testing::TestWithParam<std::tuple<Rendezvous, AdapterKnobs>> {};
INSTANTIATE_TEST_SUITE_P(Knobs, PutMatching,
                         testing::Combine(testing::Values(Rendezvous::putnr, Rendezvous::put),
                                          testing::Values(AdapterKnobs{}, AdapterKnobs{.shuffled = true},
                                                          AdapterKnobs{.largest_transfer = 2500, .queue_depth = 1, .room = 1},
                                                          AdapterKnobs{.latency = 10, .per_message = 5000, .room = 3})));

TEST_P(PutMatching, any_order_of_calls_and_arrivals_matches_as_mpi_says) {
  const auto& [protocol, knobs] = GetParam();
  const Happened happened = run_jobs(protocol, knobs, jobs);
  EXPECT_GT(happened.written, 2 * jobs);
  EXPECT_GT(happened.crossed, 2 * jobs);
}

/// Some receives are announced, most are not.
class UnaskedMatching : public testing::TestWithParam<AdapterKnobs> {};
INSTANTIATE_TEST_SUITE_P(Knobs, UnaskedMatching,
                         testing::Values(AdapterKnobs{}, AdapterKnobs{.largest_transfer = 10'000, .queue_depth = 1, .room = 1},
                                         AdapterKnobs{.latency = 10, .per_message = 5000, .room = 3}));

TEST_P(UnaskedMatching, any_order_of_calls_and_arrivals_matches_as_mpi_says) {
  const Happened happened = run_jobs(Rendezvous::automatic, GetParam(), jobs);
  EXPECT_GT(happened.written, 0u);
  EXPECT_GT(happened.crossed, 0u);
}

}  // namespace
}  // namespace sluice
