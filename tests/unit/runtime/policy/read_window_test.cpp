#include "runtime/policy/read_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

constexpr std::uint64_t us = 1000;
constexpr double link = 12.5;  // bytes for each ns: 100 Gbit/s

/// A receiver that reads without end from peers in turns. All that they send comes through one queue of its own.
class Receiver {
 public:
  explicit Receiver(std::size_t peers, std::uint64_t delay_ns = ReadWindow::usual_delay_ns)
      : window(delay_ns), late_ns_(peers, 0), reads_(peers, 0) {}

  ReadWindow window;
  double rate = link;
  std::uint64_t latency_ns = 3 * us;  // there and back
  std::size_t most_under_way = 0;

  /// All answers of that peer come so much later.
  void delay(std::size_t peer, std::uint64_t ns) { late_ns_[peer] = ns; }

  /// Goes on for that long. Bytes for each ns.
  double run(std::uint64_t ns) {
    const std::uint64_t begin = now_;
    std::size_t bytes = 0;
    most_under_way = window.under_way();
    while (now_ < begin + ns) {
      post();
      std::ranges::pop_heap(arriving_, later);
      const Read read = arriving_.back();
      arriving_.pop_back();
      now_ = read.done_ns;
      bytes += read.bytes;
      --reads_[read.peer];
      window.give_back(read.bytes, read.posted_ns, now_);
    }
    return static_cast<double>(bytes) / static_cast<double>(now_ - begin);
  }

 private:
  struct Read {
    std::size_t peer;
    std::size_t bytes;
    std::uint64_t posted_ns;
    std::uint64_t done_ns;
  };
  static bool later(const Read& one, const Read& other) { return one.done_ns > other.done_ns; }

  void post() {
    for (std::size_t refused = 0; refused < reads_.size(); turn_ = (turn_ + 1) % reads_.size()) {
      const std::size_t bytes = window.chunk();
      if (!window.take({bytes, reads_[turn_], reads_.size()}, now_)) {
        ++refused;
        continue;
      }
      refused = 0;
      ++reads_[turn_];
      const std::uint64_t there = now_ + latency_ns + late_ns_[turn_];
      // The queue is kept by the order of requests; a late peer's bytes do not hold others up.
      const std::uint64_t begins = late_ns_[turn_] > 0 ? there : std::max(there, free_ns_);
      const auto done = begins + static_cast<std::uint64_t>(static_cast<double>(bytes) / rate);
      if (late_ns_[turn_] == 0) free_ns_ = done;
      arriving_.push_back({turn_, bytes, now_, done});
      std::ranges::push_heap(arriving_, later);
      most_under_way = std::max(most_under_way, window.under_way());
    }
  }

  std::vector<std::uint64_t> late_ns_;
  std::vector<std::size_t> reads_;  // of each peer, under way
  std::vector<Read> arriving_;
  std::size_t turn_ = 0;
  std::uint64_t now_ = 1'000'000;
  std::uint64_t free_ns_ = 0;
};

TEST(ReadWindow, lets_one_peer_have_four_chunks_under_way) {
  ReadWindow window;
  EXPECT_EQ(window.chunk(), ReadWindow::most_chunk);
  for (std::size_t reads = 0; reads < 4; ++reads) EXPECT_TRUE(window.take({window.chunk(), reads, 1}, 0));
  EXPECT_FALSE(window.take({window.chunk(), 4, 1}, 0));
}

TEST(ReadWindow, lets_each_of_many_peers_have_one_chunk_until_it_is_full) {
  ReadWindow window;
  EXPECT_TRUE(window.take({window.chunk(), 0, 64}, 0));
  EXPECT_FALSE(window.take({window.chunk(), 1, 64}, 0));
  for (int peer = 1; peer < 8; ++peer) EXPECT_TRUE(window.take({window.chunk(), 0, 64}, 0));
  EXPECT_FALSE(window.take({window.chunk(), 0, 64}, 0));
}

TEST(ReadWindow, lets_a_read_pass_that_is_larger_than_all_of_it_when_nothing_is_under_way) {
  ReadWindow window;
  EXPECT_TRUE(window.take({2 * ReadWindow::most, 0, 1}, 0));
  EXPECT_FALSE(window.take({1, 0, 1}, 0));
  window.give_back(2 * ReadWindow::most, 0, us);
  EXPECT_TRUE(window.take({1, 0, 1}, us));
}

TEST(ReadWindow, keeps_the_link_of_a_receiver_full) {
  for (const std::size_t peers : {1, 2, 4, 64}) {
    Receiver receiver(peers);
    receiver.run(2000 * us);
    EXPECT_GE(receiver.run(5000 * us), 0.995 * link) << peers;
    EXPECT_LE(receiver.most_under_way, std::size_t{1'200'000}) << peers;
  }
}

TEST(ReadWindow, comes_to_what_a_slow_sink_takes_within_the_delay) {
  for (const double share : {0.5, 0.25, 0.125}) {
    Receiver receiver(16);
    receiver.rate = share * link;
    receiver.run(20'000 * us);
    EXPECT_GE(receiver.run(20'000 * us), 0.99 * receiver.rate) << share;
    const double within = receiver.rate * static_cast<double>(receiver.window.target_ns());
    EXPECT_LE(static_cast<double>(receiver.most_under_way), 1.7 * within + ReadWindow::least_chunk) << share;
  }
}

TEST(ReadWindow, allows_less_where_less_delay_is_allowed) {
  Receiver receiver(16, 10 * us);
  receiver.run(5000 * us);
  EXPECT_GE(receiver.run(5000 * us), 0.99 * link);
  EXPECT_LE(receiver.most_under_way, std::size_t{400 * 1024});
}

TEST(ReadWindow, follows_a_sink_that_is_slow_for_a_while) {
  Receiver receiver(16);
  receiver.run(5000 * us);
  receiver.rate = link / 8;
  receiver.run(10'000 * us);
  EXPECT_LE(receiver.window.bytes(), std::size_t{128 * 1024});
  receiver.rate = link;
  receiver.run(1000 * us);
  EXPECT_GE(receiver.run(1000 * us), 0.9 * link);
}

TEST(ReadWindow, is_not_cut_by_one_sender_that_is_slow) {
  Receiver receiver(4);
  receiver.delay(0, 400 * us);
  receiver.run(5000 * us);
  EXPECT_GE(receiver.run(5000 * us), 0.95 * link);
}

TEST(ReadWindow, is_not_cut_because_the_network_is_long) {
  Receiver receiver(16);
  receiver.latency_ns = 250 * us;
  receiver.run(50'000 * us);
  EXPECT_GE(receiver.window.bytes(), ReadWindow::first);
  EXPECT_GE(receiver.window.target_ns(), 250 * us);
}

TEST(ReadWindow, learns_nothing_of_reads_whose_end_was_noticed_late) {
  ReadWindow window;
  for (std::uint64_t round = 0; round < 20; ++round) {
    const std::uint64_t begin = round * 10'000 * us;
    for (int read = 0; read < 8; ++read) EXPECT_TRUE(window.take({window.chunk(), 0, 1}, begin));
    for (int read = 0; read < 8; ++read) EXPECT_FALSE(window.give_back(ReadWindow::most_chunk, begin, begin + 9000 * us, false));
  }
  EXPECT_EQ(window.bytes(), ReadWindow::first);
}

TEST(ReadWindow, is_not_judged_by_reads_that_leave_most_of_it_empty) {
  ReadWindow window;
  for (std::uint64_t round = 0; round < 100; ++round) {
    EXPECT_TRUE(window.take({64 * 1024, 0, 1}, round * 1000 * us));
    EXPECT_FALSE(window.give_back(64 * 1024, round * 1000 * us, round * 1000 * us + 500 * us));
  }
  EXPECT_EQ(window.bytes(), ReadWindow::first);
}

/// Eight chunks, of which each takes that long; with one wish more than fits. Whether the window shrank.
bool round_of_eight(ReadWindow& window, std::uint64_t begin, std::uint64_t ns, bool wants_more = false) {
  for (int read = 0; read < 8; ++read) EXPECT_TRUE(window.take({ReadWindow::most_chunk, 0, 1}, begin));
  if (wants_more) {
    EXPECT_FALSE(window.take({ReadWindow::most, 0, 1}, begin));
  }
  bool shrank = false;
  for (int read = 0; read < 8; ++read) shrank |= window.give_back(ReadWindow::most_chunk, begin, begin + ns);
  return shrank;
}

TEST(ReadWindow, grows_only_when_more_was_wanted) {
  ReadWindow window;
  EXPECT_FALSE(round_of_eight(window, 0, 20 * us));
  EXPECT_EQ(window.bytes(), ReadWindow::first);
  EXPECT_FALSE(round_of_eight(window, 100 * us, 20 * us, true));
  EXPECT_EQ(window.bytes(), ReadWindow::first + ReadWindow::most_chunk);
}

TEST(ReadWindow, shrinks_by_half_at_most) {
  ReadWindow window;
  EXPECT_FALSE(round_of_eight(window, 0, 20 * us));
  EXPECT_TRUE(round_of_eight(window, 100 * us, 9000 * us));
  EXPECT_EQ(window.bytes(), ReadWindow::first / 2);
}

}  // namespace
}  // namespace sluice
