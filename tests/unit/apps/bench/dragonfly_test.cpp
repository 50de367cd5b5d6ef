// The simulated dragonfly: limits that are known, packets and credits that are all accounted for, and what slow nodes do on a
// network that is small enough for a test. Counts of a model, the same in each run.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "apps/bench/dragonfly/simulation.hpp"

namespace sluice::dragonfly {
namespace {

constexpr unsigned nodes_342 = 3;

/// One that has gone on for that long.
struct After : Simulation {
  After(const Settings& settings, unsigned cycles) : Simulation(settings) { run(cycles); }
};

// --- the network -------------------------------------------------------------------------------------------------------

TEST(DragonflyTopology, has_the_papers_size_with_six_global_links) {
  const Topology topology(Settings{.global_links = 6});
  EXPECT_EQ(topology.nodes(), 5256U);
  EXPECT_EQ(topology.groups(), 73U);
  EXPECT_EQ(topology.nodes_of_group(), 72U);
  EXPECT_EQ(topology.ports(), 23U);
}

TEST(DragonflyTopology, joins_all_routers_of_a_group_and_each_two_groups_once) {
  const Topology topology(Settings{.global_links = nodes_342});
  std::set<std::pair<unsigned, unsigned>> routers;
  std::set<std::pair<unsigned, unsigned>> groups;
  for (unsigned router = 0; router < topology.routers(); ++router) {
    for (unsigned port = topology.nodes_of_router(); port < topology.ports(); ++port) {
      const Topology::End end = topology.other_end(router, port);
      const Topology::End back = topology.other_end(end.router, end.port);
      EXPECT_EQ(back.router, router);
      EXPECT_EQ(back.port, port);
      if (topology.is_global_port(port)) {
        EXPECT_TRUE(groups.emplace(topology.group_of(router), topology.group_of(end.router)).second);
      } else {
        EXPECT_TRUE(routers.emplace(router, end.router).second);
        EXPECT_EQ(topology.group_of(router), topology.group_of(end.router));
      }
    }
  }
  EXPECT_EQ(groups.size(), std::size_t{topology.groups()} * (topology.groups() - 1));
  EXPECT_EQ(routers.size(), std::size_t{topology.routers()} * (topology.routers_of_group() - 1));
}

TEST(DragonflyCalendar, keeps_the_order_of_time_and_takes_nothing_beyond_its_end) {
  Calendar calendar(100);
  std::vector<std::uint32_t> order;
  for (const Tick delay : {90U, 5U, 60U, 5U})
    calendar.after(delay, {.where = delay, .what = static_cast<std::uint32_t>(order.size())});
  EXPECT_THROW(calendar.after(1000, {}), std::logic_error);
  EXPECT_THROW(calendar.after(0, {}), std::logic_error);
  calendar.run_until(1000, [&](const Event& event) { order.push_back(event.where); });
  EXPECT_EQ(order, (std::vector<std::uint32_t>{5, 5, 60, 90}));
  EXPECT_TRUE(calendar.empty());
}

// --- known limits ------------------------------------------------------------------------------------------------------

TEST(Dragonfly, carries_nearly_everything_of_uniform_traffic_by_minimal_routing) {
  EXPECT_NEAR(After(Settings{.routing = Routing::minimal, .traffic = Traffic::uniform}, 6000).throughput(), 0.95, 0.02);
}

/// One link joins two groups, and 8 nodes want it.
TEST(Dragonfly, carries_exactly_an_eighth_from_group_to_group_by_minimal_routing) {
  EXPECT_NEAR(After(Settings{.routing = Routing::minimal, .traffic = Traffic::next_group}, 10'000).throughput(), 0.125, 0.0005);
}

/// Each packet takes two global links.
TEST(Dragonfly, carries_no_more_than_half_by_random_groups) {
  const double throughput = After(Settings{.routing = Routing::valiant, .traffic = Traffic::next_group}, 6000).throughput();
  EXPECT_LE(throughput, 0.5);
  EXPECT_GE(throughput, 0.4);
}

TEST(Dragonfly, is_near_the_better_of_both_with_progressive_routing) {
  EXPECT_GE(After(Settings{.traffic = Traffic::uniform}, 6000).throughput(), 0.9);
  EXPECT_GE(After(Settings{.traffic = Traffic::next_group}, 6000).throughput(), 0.5);
}

TEST(Dragonfly, takes_the_sum_of_the_hops_where_nobody_is_in_the_way) {
  const After simulation(Settings{.routing = Routing::minimal, .traffic = Traffic::uniform, .load = 0.01}, 40'000);
  EXPECT_GE(simulation.latency(), simulation.least_latency());
  EXPECT_LE(simulation.latency(), 1.01 * simulation.least_latency());
  EXPECT_NEAR(simulation.throughput(), 0.01, 0.001);
}

TEST(Dragonfly, lets_a_slow_node_take_its_share_and_no_more) {
  const After simulation(Settings{.slow_share = 1, .slow_factor = 8}, 12'000);
  EXPECT_LE(simulation.throughput(), 0.1251);
  EXPECT_GE(simulation.throughput(), 0.1);
}

// --- accounts ----------------------------------------------------------------------------------------------------------

class DragonflyControl : public testing::TestWithParam<Control> {};
INSTANTIATE_TEST_SUITE_P(Each, DragonflyControl, testing::Values(Control::none, Control::ecn, Control::credits, Control::window));

TEST_P(DragonflyControl, loses_no_packet_and_no_place) {
  Simulation simulation({.slow_share = 0.05, .slow_factor = 8, .control = GetParam()});
  simulation.run(3000);
  const Nodes::Totals& totals = simulation.nodes().totals();
  EXPECT_EQ(totals.injected, totals.drained + simulation.in_flight());
  EXPECT_GT(simulation.in_flight(), 0U);
  EXPECT_TRUE(simulation.run_until_empty());
}

TEST_P(DragonflyControl, comes_out_the_same_with_the_same_seed) {
  const Settings settings{.slow_share = 0.05, .slow_factor = 8, .control = GetParam(), .seed = 7};
  Settings other = settings;
  other.seed = 8;
  const After simulation(settings, 2000);
  EXPECT_EQ(After(settings, 2000).samples(), simulation.samples());
  EXPECT_NE(After(other, 2000).samples(), simulation.samples());
}

TEST(DragonflyLoad, is_all_delivered_after_it_stops) {
  Simulation simulation({.traffic = Traffic::uniform, .load = 0.3});
  simulation.run(2000);
  EXPECT_TRUE(simulation.run_until_empty());
}

// --- slow nodes --------------------------------------------------------------------------------------------------------

// With detours preferred, which comes nearest to the paper (docs/results/receivers.md).
constexpr Settings none_slow{.global_links = nodes_342, .bias = 0.5, .early_minimal = true};
constexpr unsigned cycles = 8000;

Settings slow(Control control = Control::none) {
  Settings settings = none_slow;
  settings.slow_share = 0.009;
  settings.slow_factor = 8;
  settings.control = control;
  settings.credits = 16;
  return settings;
}

struct Outcomes {
  After none{none_slow, cycles};
  After slowed{slow(), cycles};
};
const Outcomes& outcomes() {
  static const Outcomes both;
  return both;
}

TEST(DragonflyWithSlowNodes, carries_far_less_for_all) {
  EXPECT_LE(outcomes().slowed.mean_fast_node(), 0.4 * outcomes().none.mean_fast_node());
}

TEST(DragonflyWithSlowNodes, carries_as_much_as_without_where_receivers_bound_what_is_under_way) {
  const After bounded(slow(Control::credits), cycles);
  EXPECT_GE(bounded.mean_fast_node(), outcomes().none.mean_fast_node());
  EXPECT_GE(bounded.worst_fast_node(), 0.25);
  EXPECT_LE(bounded.latency(), outcomes().slowed.latency() / 3);
}

TEST(DragonflyWithSlowNodes, is_hardly_helped_by_explicit_congestion_notification) {
  const After notified(slow(Control::ecn), cycles);
  EXPECT_GT(notified.nodes().totals().marked, 0U);
  EXPECT_LE(notified.mean_fast_node(), 0.5 * outcomes().none.mean_fast_node());
}

/// It starts with 1 MB, and takes a millisecond to get to what the slow nodes can take.
TEST(DragonflyWithSlowNodes, is_helped_by_the_window_that_the_runtime_has) {
  Settings settings{.bias = 0.5, .early_minimal = true, .slow_share = 0.03, .slow_factor = 8};
  const After slowed(settings, 20'000);
  settings.control = Control::window;
  settings.allowed_delay_ns = 10'000;
  const After bounded(settings, 60'000);
  EXPECT_GE(bounded.mean_fast_node(), 1.3 * slowed.mean_fast_node());
  EXPECT_LE(bounded.latency(), slowed.latency() / 2);
  EXPECT_LE(bounded.nodes().mean_window(), 300.0 * 1024);
}

}  // namespace
}  // namespace sluice::dragonfly
