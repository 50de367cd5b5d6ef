#include "interpose/mpi/topology.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "interpose/host/host.hpp"

namespace sluice {
namespace {

using Ranks = std::vector<int>;

/// As the host gives them. MPI_PROC_NULL, which is no rank of anybody, is at the end of a grid.
std::vector<Rank> named(const Ranks& ranks) {
  std::vector<Rank> all;
  for (const int rank : ranks) all.push_back(rank < 0 ? Edge::none : Rank{rank});
  return all;
}

std::optional<Neighbourhood> in_grid(MPI_Comm comm) {
  int dimensions = 0;
  if (host().Cartdim_get(comm, &dimensions) != MPI_SUCCESS) return std::nullopt;
  Ranks ranks(2 * static_cast<std::size_t>(dimensions));
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int* const pair = ranks.data() + 2 * dimension;
    if (host().Cart_shift(comm, dimension, 1, pair, pair + 1) != MPI_SUCCESS) return std::nullopt;
  }
  return neighbours_in_grid(named(ranks));
}

std::optional<Neighbourhood> in_graph(const Communicator& communicator) {
  int count = 0;
  if (host().Graph_neighbors_count(communicator.handle, communicator.rank, &count) != MPI_SUCCESS) return std::nullopt;
  Ranks ranks(static_cast<std::size_t>(count));
  if (host().Graph_neighbors(communicator.handle, communicator.rank, count, ranks.data()) != MPI_SUCCESS) return std::nullopt;
  return neighbours_in_graph(named(ranks), named(ranks));
}

std::optional<Neighbourhood> in_distributed_graph(MPI_Comm comm) {
  int incoming = 0;
  int outgoing = 0;
  int is_weighted = 0;
  if (host().Dist_graph_neighbors_count(comm, &incoming, &outgoing, &is_weighted) != MPI_SUCCESS) return std::nullopt;
  Ranks sources(static_cast<std::size_t>(incoming));
  Ranks destinations(static_cast<std::size_t>(outgoing));
  Ranks in_weights(sources.size());
  Ranks out_weights(destinations.size());
  const int code = host().Dist_graph_neighbors(comm, incoming, sources.data(), in_weights.data(), outgoing, destinations.data(),
                                               out_weights.data());
  if (code != MPI_SUCCESS) return std::nullopt;
  return neighbours_in_graph(named(sources), named(destinations));
}

std::optional<Neighbourhood> ask_host(const Communicator& communicator) {
  int kind = MPI_UNDEFINED;
  if (host().Topo_test(communicator.handle, &kind) != MPI_SUCCESS) return std::nullopt;
  switch (kind) {
    case MPI_CART:
      return in_grid(communicator.handle);
    case MPI_GRAPH:
      return in_graph(communicator);
    case MPI_DIST_GRAPH:
      return in_distributed_graph(communicator.handle);
    default:
      return std::nullopt;
  }
}

}  // namespace

const Neighbourhood* neighbours_in(Communicator& communicator) {
  if (!communicator.neighbours) {
    auto found = ask_host(communicator);
    if (!found) return nullptr;
    communicator.neighbours = std::make_unique<const Neighbourhood>(std::move(*found));
  }
  return communicator.neighbours.get();
}

}  // namespace sluice
