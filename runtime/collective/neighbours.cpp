#include "runtime/collective/neighbours.hpp"

#include <unordered_map>

namespace sluice {
namespace {

std::vector<Edge> numbered(std::span<const Rank> ranks) {
  std::unordered_map<std::int32_t, std::uint16_t> edges;
  std::vector<Edge> all;
  all.reserve(ranks.size());
  for (const Rank rank : ranks) {
    all.push_back(rank == Edge::none ? Edge{} : Edge{rank, edges[static_cast<std::int32_t>(rank)]++});
  }
  return all;
}

}  // namespace

Neighbourhood neighbours_in_grid(std::span<const Rank> neighbours) {
  Neighbourhood all;
  for (std::size_t block = 0; block < neighbours.size(); ++block) {
    const auto direction = static_cast<std::uint16_t>(block);
    const auto opposite = static_cast<std::uint16_t>(block ^ 1);
    all.sources.push_back({neighbours[block], opposite});
    all.destinations.push_back({neighbours[block], direction});
  }
  return all;
}

Neighbourhood neighbours_in_graph(std::span<const Rank> sources, std::span<const Rank> destinations) {
  return {numbered(sources), numbered(destinations)};
}

}  // namespace sluice
