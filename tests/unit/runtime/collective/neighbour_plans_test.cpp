// Plans of calls between neighbours, in grids and graphs of all kinds. What each edge carries is said by its two ends: in a grid
// by coordinates, in a graph by the list of edges.
#include <array>

#include "../../support/simulated_call.hpp"

namespace sluice {
namespace {

using simulation::Call;
using simulation::expect_right;
using simulation::leaf;
using simulation::Sizes;

/// One edge: block `from_block` of its source arrives in block `to_block` of its target.
struct Wire {
  std::size_t source, from_block, target, to_block;
};

struct Graph {
  std::size_t ranks = 0;
  std::vector<Neighbourhood> neighbours;
  std::vector<Wire> wires;
};

/// Different for each edge, now and then none.
std::size_t bytes_of(const Wire& wire, bool are_equal) {
  if (are_equal) return 24;
  return (wire.source + 2 * wire.from_block) % 4 == 1 ? 0 : 1 + wire.source + 3 * wire.from_block;
}

/// Alltoall: the shapes refer to the neighbours of the graph, by rank.
class NeighbourCallMachine {
 public:
  NeighbourCallMachine(const Graph& graph, bool is_allgather, bool are_equal)
      : graph_(graph), call_(is_allgather ? plans::neighbour_allgather : plans::neighbour_alltoall, graph.ranks) {
    call_.to.resize(graph.ranks);
    call_.from.resize(graph.ranks);
    for (std::size_t rank = 0; rank < graph.ranks; ++rank) {
      call_.to[rank].assign(graph.neighbours[rank].destinations.size(), 0);
      call_.from[rank].assign(graph.neighbours[rank].sources.size(), 0);
    }
    for (const Wire& wire : graph.wires) {
      const std::size_t bytes = bytes_of(is_allgather ? Wire{wire.source, 0, 0, 0} : wire, are_equal);
      call_.to[wire.source][wire.from_block] = bytes;
      call_.from[wire.target][wire.to_block] = bytes;
    }
    call_.result = call_.from;
    for (std::size_t rank = 0; rank < graph.ranks; ++rank) {
      // A block that goes nowhere may have bytes.
      call_.operand[rank] = is_allgather ? Sizes{bytes_of({rank, 0, 0, 0}, are_equal)} : call_.to[rank];
    }
    call_.neighbours = graph.neighbours;
    call_.expected = [this, is_allgather](std::size_t rank, std::size_t block,
                                          std::size_t byte) -> std::optional<simulation::Term> {
      for (const Wire& wire : graph_.wires) {
        if (wire.target == rank && wire.to_block == block) return leaf(wire.source, is_allgather ? 0 : wire.from_block, byte);
      }
      return simulation::undefined;
    };
  }
  NeighbourCallMachine(const NeighbourCallMachine&) = delete;
  NeighbourCallMachine& operator=(const NeighbourCallMachine&) = delete;

  void run() const { expect_right(call_); }

 private:
  const Graph& graph_;
  Call call_;
};

void expect_all_right(const Graph& graph) {
  for (const bool is_allgather : {false, true}) {
    for (const bool are_equal : {false, true}) NeighbourCallMachine(graph, is_allgather, are_equal).run();
  }
}

struct Dimension {
  int extent;
  bool is_periodic;
};

class Grid {
 public:
  explicit Grid(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) {}

  Graph graph() const {
    Graph graph;
    graph.ranks = 1;
    for (const Dimension& one : dimensions_) graph.ranks *= static_cast<std::size_t>(one.extent);
    for (std::size_t rank = 0; rank < graph.ranks; ++rank) {
      std::vector<Rank> around;
      for (std::size_t dimension = 0; dimension < dimensions_.size(); ++dimension) {
        for (const int step : {-1, 1}) {
          const auto to = shifted(static_cast<int>(rank), dimension, step);
          around.push_back(to ? Rank{*to} : Edge::none);
          if (!to) continue;
          const std::size_t block = 2 * dimension + (step > 0 ? 1 : 0);
          graph.wires.push_back({rank, block, static_cast<std::size_t>(*to), block ^ 1});
        }
      }
      graph.neighbours.push_back(neighbours_in_grid(around));
    }
    return graph;
  }

 private:
  [[nodiscard]] std::optional<int> shifted(int rank, std::size_t dimension, int step) const {
    int stride = 1;
    for (std::size_t inner = dimension + 1; inner < dimensions_.size(); ++inner) stride *= dimensions_[inner].extent;
    const auto [extent, is_periodic] = dimensions_[dimension];
    const int here = rank / stride % extent;
    const int there = here + step;
    if (!is_periodic && (there < 0 || there >= extent)) return std::nullopt;
    return rank + ((there + extent) % extent - here) * stride;
  }

  std::vector<Dimension> dimensions_;
};

TEST(NeighbourPlans, a_line_of_any_width_open_or_closed) {
  for (const int extent : {1, 2, 3, 4, 7, 16}) {
    for (const bool is_periodic : {false, true}) expect_all_right(Grid({{extent, is_periodic}}).graph());
  }
}

TEST(NeighbourPlans, grids_that_are_one_or_two_wide) {
  for (const int rows : {1, 2, 3}) {
    for (const int columns : {1, 2, 5}) {
      for (const unsigned periodic : {0U, 1U, 2U, 3U}) {
        expect_all_right(Grid({{rows, (periodic & 1U) != 0}, {columns, (periodic & 2U) != 0}}).graph());
      }
    }
  }
  expect_all_right(Grid({{2, true}, {1, true}, {2, true}, {3, false}}).graph());
}

TEST(NeighbourPlans, a_grid_without_dimensions) { expect_all_right(Grid({}).graph()); }

/// From a list of edges, which each rank has in its order.
Graph graph_of(std::size_t ranks, const std::vector<std::array<std::size_t, 2>>& edges) {
  Graph graph;
  graph.ranks = ranks;
  std::vector<std::vector<Rank>> sources(ranks);
  std::vector<std::vector<Rank>> destinations(ranks);
  for (const auto& [source, target] : edges) {
    graph.wires.push_back({source, destinations[source].size(), target, sources[target].size()});
    destinations[source].push_back(Rank{static_cast<int>(target)});
    sources[target].push_back(Rank{static_cast<int>(source)});
  }
  for (std::size_t rank = 0; rank < ranks; ++rank)
    graph.neighbours.push_back(neighbours_in_graph(sources[rank], destinations[rank]));
  return graph;
}

TEST(NeighbourPlans, graphs_with_repeated_edges_to_others_and_to_oneself) {
  expect_all_right(graph_of(3, {{0, 1}, {0, 1}, {1, 1}, {0, 1}, {1, 0}, {1, 1}, {0, 0}}));
  expect_all_right(graph_of(2, {{0, 1}, {1, 0}, {0, 1}, {1, 0}, {0, 0}, {0, 1}, {1, 1}, {0, 0}}));
}

TEST(NeighbourPlans, ranks_without_neighbours_on_one_side_or_both) {
  expect_all_right(graph_of(5, {{0, 1}, {0, 2}, {3, 1}}));
  expect_all_right(graph_of(4, {}));
}

TEST(NeighbourPlans, graphs_of_all_kinds) {
  std::mt19937_64 random(43);
  for (std::size_t ranks = 1; ranks <= 17; ++ranks) {
    for (int round = 0; round < 20; ++round) {
      std::vector<std::array<std::size_t, 2>> edges(random() % (3 * ranks));
      for (auto& edge : edges) edge = {random() % ranks, random() % ranks};
      expect_all_right(graph_of(ranks, edges));
    }
  }
}

}  // namespace
}  // namespace sluice
