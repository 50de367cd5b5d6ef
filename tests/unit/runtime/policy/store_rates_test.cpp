#include "runtime/policy/store_rates.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::size_t chunk = 256 * 1024;

/// What chunks take by either kind of stores, now.
struct Machine {
  std::uint64_t plain_ns;
  std::uint64_t streaming_ns;
};

/// How many of the next chunks are copied plainly.
int plain_chunks(StoreRates& rates, const Machine& machine, int chunks) {
  int plain = 0;
  for (int i = 0; i < chunks; ++i) {
    const bool is_plain = rates.choose_plain();
    plain += is_plain ? 1 : 0;
    rates.took(is_plain, chunk, is_plain ? machine.plain_ns : machine.streaming_ns);
  }
  return plain;
}

constexpr Machine one_cache{.plain_ns = 15'000, .streaming_ns = 12'000};
constexpr Machine two_caches{.plain_ns = 200'000, .streaming_ns = 15'000};
constexpr int between = StoreRates::least_between_trials;
constexpr int many = between * 31;  // 1, 2, 4, 8 and 16 times as many
constexpr int trials = 5 + 1;       // the first chunk of a kind is one

TEST(StoreRates, prefer_plain_stores_though_they_take_a_little_longer) {
  StoreRates rates;
  EXPECT_GE(plain_chunks(rates, one_cache, many), many - trials);
}

TEST(StoreRates, try_the_others_now_and_then_and_ever_more_rarely) {
  StoreRates rates;
  EXPECT_EQ(plain_chunks(rates, one_cache, 2 + between - 1), between);
  EXPECT_EQ(plain_chunks(rates, one_cache, 1), 0);
  EXPECT_EQ(plain_chunks(rates, one_cache, 2 * between - 1), 2 * between - 1);
  EXPECT_EQ(plain_chunks(rates, one_cache, 1), 0);
  for (int i = 0; i < 10; ++i) plain_chunks(rates, one_cache, many);
  const int most = StoreRates::most_between_trials;
  EXPECT_EQ(plain_chunks(rates, one_cache, most), most - 1);
}

TEST(StoreRates, stream_where_plain_stores_wait_for_the_peers_caches) {
  StoreRates rates;
  EXPECT_LE(plain_chunks(rates, two_caches, many), trials);
}

TEST(StoreRates, follow_processors_that_are_moved_apart_within_a_few_chunks) {
  StoreRates rates;
  plain_chunks(rates, one_cache, many);
  EXPECT_LE(plain_chunks(rates, two_caches, many), 8 + trials);
}

TEST(StoreRates, follow_processors_that_are_moved_together_at_the_next_trial) {
  StoreRates rates;
  plain_chunks(rates, two_caches, many);
  EXPECT_GE(plain_chunks(rates, one_cache, many), many - static_cast<int>(StoreRates::most_between_trials) - trials);
}

TEST(StoreRates, are_not_changed_by_one_chunk_that_was_disturbed) {
  StoreRates rates;
  plain_chunks(rates, one_cache, 10);
  while (!rates.choose_plain()) rates.took(false, chunk, one_cache.streaming_ns);
  rates.took(true, chunk, 4'000'000);
  EXPECT_EQ(plain_chunks(rates, one_cache, 10), 10);
}

TEST(StoreRates, learn_nothing_from_short_pieces) {
  StoreRates rates;
  rates.took(true, StoreRates::least_bytes - 1, 1);
  EXPECT_TRUE(rates.choose_plain()) << "nothing is known of plain stores yet";
}

TEST(StoreTrial, chooses_for_outer_lines_only) {
  StoreRates rates;
  for (const TargetLines lines : {TargetLines::unknown, TargetLines::own, TargetLines::shared}) {
    StoreTrial trial(lines, rates);
    EXPECT_EQ(trial.lines(), lines);
    trial.stop();
    trial.keep(chunk);
  }
  StoreTrial first(TargetLines::outer, rates);
  EXPECT_EQ(first.lines(), TargetLines::outer) << "nothing was learnt before";
  first.stop();
  first.keep(chunk);
  EXPECT_EQ(StoreTrial(TargetLines::outer, rates).lines(), TargetLines::shared) << "nothing is known of the others";
}

}  // namespace
}  // namespace sluice
