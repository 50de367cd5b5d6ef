// What is known of one receiver behind a switch, whatever bounds the reads; and what the window of the runtime makes of it.
#include "apps/bench/dragonfly/one_switch.hpp"

#include <gtest/gtest.h>

namespace sluice::one_switch {
namespace {

constexpr std::uint64_t run_ns = 10'000'000;
constexpr double link = 12.5;
constexpr std::size_t four_reads = std::size_t{512} << 10;

struct Outcome {
  double rate;
  double evenness;
  double partner_rate;
  std::size_t most_under_way;
  std::uint64_t longest_wait_ns;
};

Outcome run(Settings settings, bool has_window) {
  settings.has_window = has_window;
  Simulation simulation(settings);
  simulation.run(run_ns);
  return {simulation.rate(), simulation.evenness(), simulation.partner_rate(), simulation.most_under_way(),
          simulation.longest_wait_ns()};
}

TEST(one_switch, without_a_window_every_message_has_four_reads_under_way) {
  const Outcome outcome = run({.senders = 64}, false);
  EXPECT_EQ(outcome.most_under_way, 64 * four_reads);
  EXPECT_GT(outcome.rate, 0.99 * link);
  EXPECT_GT(outcome.evenness, 0.97);
}

TEST(one_switch, a_window_keeps_the_rate_and_frees_the_network) {
  const Outcome without = run({.senders = 64}, false);
  const Outcome with = run({.senders = 64}, true);
  EXPECT_GT(with.rate, 0.99 * without.rate);
  EXPECT_LT(with.most_under_way, without.most_under_way / 16);
  EXPECT_LT(with.longest_wait_ns, without.longest_wait_ns / 5);
}

TEST(one_switch, a_slow_sink_is_kept_busy_by_either) {
  for (const double part : {2.0, 4.0, 8.0}) {
    const Settings slow{.senders = 64, .sink_bytes_per_ns = link / part};
    EXPECT_GT(run(slow, false).rate, 0.97 * link / part) << part;
    EXPECT_GT(run(slow, true).rate, 0.95 * link / part) << part;
  }
}

TEST(one_switch, what_goes_elsewhere_stands_behind_a_slow_receiver_unless_there_is_a_window) {
  const Settings victims{.senders = 16, .sink_bytes_per_ns = link / 8, .has_partners = true};
  EXPECT_LT(run(victims, false).partner_rate, 0.05 * link);
  EXPECT_GT(run(victims, true).partner_rate, 0.75 * link);
}

TEST(one_switch, partners_alone_have_their_links_or_a_share_of_the_trunk) {
  Settings alone{.senders = 16, .has_partners = true, .reads = false};
  EXPECT_NEAR(run(alone, false).partner_rate, link, 0.02 * link);
  alone.trunk_bytes_per_ns = 4 * link;
  EXPECT_NEAR(run(alone, false).partner_rate, link / 4, 0.02 * link);
}

TEST(one_switch, a_slow_sender_costs_the_others_nothing) {
  const Settings slow{.senders = 16, .slow_sender_bytes_per_ns = link / 64};
  for (const bool has_window : {false, true}) EXPECT_GT(run(slow, has_window).rate, 0.97 * link) << has_window;
}

TEST(one_switch, two_runs_are_the_same) { EXPECT_EQ(run({.senders = 8}, true).rate, run({.senders = 8}, true).rate); }

}  // namespace
}  // namespace sluice::one_switch
