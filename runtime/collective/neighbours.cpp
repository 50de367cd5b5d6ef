#include "runtime/collective/neighbours.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

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

std::vector<Rank> ranks_of(std::span<const Edge> edges) {
  std::vector<Rank> ranks;
  for (const Edge& edge : edges) {
    if (edge.exists()) ranks.push_back(edge.rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

Neighbourhood with_ranks(Neighbourhood all) {
  all.source_ranks = ranks_of(all.sources);
  all.destination_ranks = ranks_of(all.destinations);
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
  return with_ranks(std::move(all));
}

Neighbourhood neighbours_in_graph(std::span<const Rank> sources, std::span<const Rank> destinations) {
  return with_ranks(
      {.sources = numbered(sources), .destinations = numbered(destinations), .source_ranks = {}, .destination_ranks = {}});
}

}  // namespace sluice
