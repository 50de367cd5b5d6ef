#include "runtime/collective/neighbours.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::vector<Rank> ranks(std::initializer_list<int> numbers) {
  std::vector<Rank> all;
  for (const int number : numbers) all.push_back(number < 0 ? Edge::none : Rank{number});
  return all;
}

Edge edge(int rank, std::uint16_t part) { return {Rank{rank}, part}; }

TEST(Neighbours, what_goes_down_a_grid_comes_from_above) {
  const Neighbourhood all = neighbours_in_grid(ranks({3, 5, 1, 1}));
  EXPECT_EQ(all.destinations, (std::vector{edge(3, 0), edge(5, 1), edge(1, 2), edge(1, 3)}));
  EXPECT_EQ(all.sources, (std::vector{edge(3, 1), edge(5, 0), edge(1, 3), edge(1, 2)}));
}

TEST(Neighbours, nobody_is_beyond_the_end_of_a_grid) {
  const Neighbourhood all = neighbours_in_grid(ranks({-1, 1}));
  EXPECT_FALSE(all.sources[0].exists());
  EXPECT_FALSE(all.destinations[0].exists());
  EXPECT_TRUE(all.sources[1].exists());
}

TEST(Neighbours, edges_of_a_graph_are_numbered_among_equal_ones) {
  const Neighbourhood all = neighbours_in_graph(ranks({4, 2, 4, 4}), ranks({2, 2}));
  EXPECT_EQ(all.sources, (std::vector{edge(4, 0), edge(2, 0), edge(4, 1), edge(4, 2)}));
  EXPECT_EQ(all.destinations, (std::vector{edge(2, 0), edge(2, 1)}));
}

TEST(Neighbours, a_rank_may_have_none) {
  const Neighbourhood all = neighbours_in_graph({}, {});
  EXPECT_TRUE(all.sources.empty());
  EXPECT_TRUE(all.destinations.empty());
}

}  // namespace
}  // namespace sluice
