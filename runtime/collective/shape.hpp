// What a plan knows of a call: what MPI makes equal on all ranks, what this rank has said, and where the ranks are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/types.hpp"
#include "runtime/collective/neighbours.hpp"

namespace sluice {

struct Shape {
  std::size_t ranks = 1;
  Rank self{};
  Rank root{};  // where there is one

  /// Packed bytes that are equal on all ranks: of the message (Bcast, Reduce, Allreduce, Scan), or of one block (Gather, Scatter,
  /// Allgather, Alltoall, Reduce_scatter_block). Calls where each pair knows its own have them by rank below; of Gatherv and
  /// Scatterv these are the bytes of this rank's own part.
  std::size_t bytes = 0;
  /// Of a reduction: its parts are cut between elements.
  std::size_t element_bytes = 1;
  /// Long messages that are forwarded go in segments of so many bytes. The same on all ranks.
  std::size_t segment_bytes = 0;

  /// By rank: the node on which it is. The same on all ranks; empty: all on one.
  std::span<const std::uint32_t> nodes;
  /// By rank, of the calls with counts: bytes that go to it from here, and that come from it. Empty: `bytes`. Of Reduce_scatter
  /// `to` has the strips, alike on all ranks.
  std::span<const std::size_t> to;
  std::span<const std::size_t> from;
  /// By block, of calls between neighbours, which have `to` and `from` by block, too.
  std::span<const Edge> sources;
  std::span<const Edge> destinations;

  /// MPI_IN_PLACE, on this rank.
  bool in_place = false;

  [[nodiscard]] std::size_t own() const { return static_cast<std::size_t>(self); }
  [[nodiscard]] bool is_root() const { return self == root; }
  [[nodiscard]] std::size_t bytes_to(std::size_t block) const { return to.empty() ? bytes : to[block]; }
  [[nodiscard]] std::size_t bytes_from(std::size_t block) const { return from.empty() ? bytes : from[block]; }
};

}  // namespace sluice
