// Collective calls between the neighbours of a topology: MPI_Neighbor_allgather, MPI_Neighbor_alltoall and those with counts.
//
// All members must come to the same answer of who carries the call (collective_arguments.hpp). Nothing but communicator and kind
// decides. A rank without neighbours makes the call, too: calls are numbered alike on all members.
//
// Of a neighbour that does not exist, and of a side without neighbours, no argument is read.
#pragma once

#include <span>

#include "interpose/mpi/block_call.hpp"
#include "interpose/mpi/topology.hpp"

namespace sluice {

class NeighbourCall {
 public:
  enum class Way : std::uint8_t { messages, lanes };
  /// `kind`: neighbour_allgather or neighbour_alltoall.
  NeighbourCall(OrderKind kind, Way way, MPI_Comm comm);

  /// False: the host carries it.
  template <typename Make>
  [[nodiscard]] bool between(const OneBlock& sent, const AllBlocks<Make>& received) {
    if (!neighbours_ || sent.is_in_place() || received.is_in_place()) return false;
    if (!neighbours_->destinations.empty()) operand_ = {sent.argument()};
    result_ = blocks_of(neighbours_->sources, received);
    return is_in_order();
  }
  template <typename MakeSent, typename Make>
  [[nodiscard]] bool between(const AllBlocks<MakeSent>& sent, const AllBlocks<Make>& received) {
    if (!neighbours_ || sent.is_in_place() || received.is_in_place()) return false;
    operand_ = blocks_of(neighbours_->destinations, sent);
    result_ = blocks_of(neighbours_->sources, received);
    return is_in_order();
  }

  /// Where it is carried. Its buffers are complete, and where the processor reaches them.
  [[nodiscard]] PreparedCollective prepare(CallSite site) const;
  /// In lanes, and by messages what has no room there. MPI's answer.
  [[nodiscard]] int carry_out_in_lanes(CallSite site) const;

 private:
  using Bytes = std::vector<std::size_t>;  // by edge

  template <typename Make>
  static Blocks blocks_of(std::span<const Edge> neighbours, const AllBlocks<Make>& all) {
    if (neighbours.empty()) return {};
    return without_missing(neighbours, all.blocks(static_cast<int>(neighbours.size())));
  }
  static Blocks without_missing(std::span<const Edge> neighbours, Blocks blocks);
  [[nodiscard]] bool is_in_order() const;
  [[nodiscard]] bool agrees_with_itself() const;
  [[nodiscard]] const BufferArgument& sent_to(std::size_t destination) const;
  [[nodiscard]] Bytes sent_bytes() const;
  [[nodiscard]] Bytes received_bytes() const;
  void prepare_buffers(PreparedCollective& call) const;
  void prepare_schedule(PreparedCollective& call, const Bytes& to, const Bytes& from) const;

  OrderKind kind_;
  Way way_;
  Communicator* communicator_;
  const Neighbourhood* neighbours_ = nullptr;
  Blocks operand_;
  Blocks result_;
};

}  // namespace sluice
