// The neighbours of a rank in a topology, and which of its messages is meant for which block of theirs.
//
// Two ranks may be neighbours more than once: in a grid that is one or two wide and closed, and in a graph with repeated edges.
// So a message has a part, alike on both sides. In a grid it is the direction in which it goes: what goes to the lower side
// comes from the upper one. In a graph it is the number of the edge among those between the two: the k-th one to the k-th one.
//
// Pure functions: any thread, no state.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/types.hpp"

namespace sluice {

/// Between this rank and a neighbour.
struct Edge {
  /// At the end of a grid that is not closed. Its block is not touched.
  static constexpr Rank none{-2};

  Rank rank = none;
  std::uint16_t part = 0;

  [[nodiscard]] bool exists() const { return rank != none; }
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// Of one rank.
struct Neighbourhood {
  // By block.
  std::vector<Edge> sources;
  std::vector<Edge> destinations;
  // Each rank once, in order.
  std::vector<Rank> source_ranks;
  std::vector<Rank> destination_ranks;
};

/// Of each dimension the lower neighbour, then the upper one.
Neighbourhood neighbours_in_grid(std::span<const Rank> neighbours);
Neighbourhood neighbours_in_graph(std::span<const Rank> sources, std::span<const Rank> destinations);

}  // namespace sluice
