// The read window at a receiver to which many send at once: what is under way, and who waits for it. Engines on a model of
// adapters, by its own clock. Links carry 12.5 bytes for each ns (100 Gbit/s).

#include "runtime/rendezvous/bounded_reads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/engine.hpp"
#include "tests/unit/support/model_adapter.hpp"

namespace sluice {
namespace {

constexpr double link = 12.5;
constexpr CallSite here{1};
constexpr Tag tag{3};
constexpr std::size_t megabyte = std::size_t{1} << 20;
constexpr std::size_t off = Config::no_read_window;
constexpr std::size_t automatic = Config::automatic_read_window;

struct How {
  std::size_t senders = 16;
  std::size_t bytes = megabyte;
  std::size_t read_window = automatic;
  double takes = link;  // the receiver
  Rendezvous rendezvous = Rendezvous::rdrp;
  std::size_t queue_depth = AdapterKnobs::unlimited;
};

/// Process 0 receives a message of each other one, again and again.
class Job {
 public:
  explicit Job(const How& how)
      : bytes_(how.bytes),
        network_(how.senders + 1,
                 {.bytes_per_ns = link, .receiving_bytes_per_ns = how.takes, .queue_depth = how.queue_depth, .by_hand = true}) {
    Config config;
    config.rendezvous = how.rendezvous;
    config.read_window = how.read_window;
    config.eager_limit = 0;
    config.release = ReleaseMode::off;
    std::vector<Peer> all;
    for (std::size_t i = 0; i <= how.senders; ++i) all.push_back(static_cast<Peer>(i));
    for (const Peer self : all) {
      engines_.push_back(std::make_unique<Engine>(Engine::Parts{.self = self,
                                                                .job_size = all.size(),
                                                                .transport = &network_.transport(self),
                                                                .arena = nullptr,
                                                                .host = {},
                                                                .config = config}));
      worlds_.push_back(engines_.back()->contexts().adopt(ContextId{1}, all, static_cast<Rank>(self)));
      sent_.emplace_back(bytes_, static_cast<std::byte>(self));
      got_.emplace_back(bytes_);
    }
  }
  ~Job() { network_.let_helpers_go(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// One message of each. Bytes for each ns.
  double round() {
    std::vector<Request*> sends;
    std::vector<Request*> receives;
    for (std::size_t i = 1; i < engines_.size(); ++i) {
      receives.push_back(engines_[0]->start_receive(*worlds_[0], static_cast<Rank>(i), tag, buffer(got_[i]), here));
      sends.push_back(engines_[i]->start_send(*worlds_[i], Rank{0}, tag, buffer(sent_[i]), SendMode::standard, here));
    }
    const auto begin = network_.now();
    ended_.clear();
    do {
      for (int again = 0; again < 3; ++again) {
        for (const auto& engine : engines_) engine->progress();
      }
      const auto done =
          static_cast<std::size_t>(std::ranges::count_if(receives, [](const Request* one) { return Engine::is_complete(*one); }));
      while (ended_.size() < done) ended_.push_back(network_.now() - begin);
    } while (network_.step());
    EXPECT_EQ(ended_.size(), receives.size());
    EXPECT_TRUE(std::equal(sent_.begin() + 1, sent_.end(), got_.begin() + 1));
    if (ended_.size() != receives.size()) return 0;
    for (std::size_t i = 0; i < receives.size(); ++i) {
      engines_[0]->take(receives[i]);
      engines_[i + 1]->take(sends[i]);
    }
    return static_cast<double>(bytes_ * receives.size()) / static_cast<double>(ended_.back());
  }
  /// That the receiver reads, since the last time.
  [[nodiscard]] std::size_t most_under_way() {
    const std::size_t most = network_.counts(Peer{0}).max_read_bytes;
    network_.forget_counts();
    return most;
  }
  /// When the receives of the last round ended.
  [[nodiscard]] const std::vector<AdapterKnobs::Nanoseconds>& ended() const { return ended_; }

 private:
  static UserBuffer buffer(std::span<std::byte> data) { return {data.data(), data.size(), Layout::contiguous(1)}; }

  const std::size_t bytes_;
  ModelAdapters network_;
  std::vector<std::vector<std::byte>> sent_;
  std::vector<std::vector<std::byte>> got_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::vector<Context*> worlds_;
  std::vector<AdapterKnobs::Nanoseconds> ended_;
};

TEST(BoundedReads, bound_nothing_when_they_are_off) {
  Job job({.read_window = off});
  job.round();
  EXPECT_EQ(job.most_under_way(), 16 * 4 * std::size_t{128 * 1024});
}

TEST(BoundedReads, keep_to_the_window_with_many_senders_and_the_link_full) {
  const double rate = Job({.read_window = off}).round();
  Job job({});
  EXPECT_GE(job.round(), 0.98 * rate);
  EXPECT_LE(job.most_under_way(), megabyte + 2 * ReadWindow::most_chunk);
}

TEST(BoundedReads, shrink_to_what_a_slow_sink_takes) {
  Job job({.takes = link / 8});
  job.round();
  (void)job.most_under_way();
  EXPECT_GE(job.round(), 0.97 * link / 8);
  EXPECT_LE(job.most_under_way(), std::size_t{256 * 1024});
}

TEST(BoundedReads, keep_to_a_number_of_bytes) {
  Job job({.senders = 8, .read_window = 128 * 1024});
  job.round();
  EXPECT_EQ(job.most_under_way(), std::size_t{128 * 1024});
}

/// Equal messages that begin together end nearly together.
TEST(BoundedReads, give_turns_to_all_senders) {
  Job job({});
  job.round();
  EXPECT_GE(job.ended().front(), job.ended().back() / 2);
}

TEST(BoundedReads, do_not_slow_a_single_stream_down) {
  const double rate = Job({.senders = 1, .bytes = 8 * megabyte, .read_window = off}).round();
  EXPECT_GE(Job({.senders = 1, .bytes = 8 * megabyte}).round(), 0.995 * rate);
}

TEST(BoundedReads, let_a_read_pass_that_is_larger_than_the_window) {
  Job job({.senders = 2, .read_window = 32 * 1024, .rendezvous = Rendezvous::getcqe});
  job.round();
  EXPECT_EQ(job.most_under_way(), megabyte);
}

TEST(BoundedReads, wait_for_room_in_the_adapter_as_well) {
  Job job({.senders = 4, .queue_depth = 1});
  job.round();
  EXPECT_LE(job.most_under_way(), 4 * ReadWindow::most_chunk);
}

}  // namespace
}  // namespace sluice
