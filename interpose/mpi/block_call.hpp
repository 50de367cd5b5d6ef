// Collective calls that have a block for each rank: MPI_Gather, MPI_Scatter, MPI_Allgather, MPI_Alltoall and those with counts.
//
// All members must come to the same answer of who carries the call (collective_arguments.hpp). Of some of these calls each pair
// of ranks knows its own lengths only, so nothing but communicator, kind and root may decide. They are carried where
// members have lanes, and elsewhere only where all have SLUICE_COLLECTIVES=all: nobody can tell that they are long enough. A part
// of no bytes is left out on both sides; whether a count is zero says nothing, as types differ.
//
// Arguments that are not significant on this rank are never read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "interpose/mpi/collective_orders.hpp"
#include "interpose/mpi/prepared_collective.hpp"

namespace sluice {

/// Of one side: one block, or one for each rank.
using Blocks = std::vector<BufferArgument>;

/// In the order of ranks, one behind the other.
Blocks equal_blocks(const void* base, MPI_Count count, MPI_Datatype type, int ranks);
/// Displacements in extents of the type.
template <typename Count, typename Displacement>
Blocks counted_blocks(const void* base, const Count counts[], const Displacement displacements[], MPI_Datatype type, int ranks);
/// Displacements in bytes.
template <typename Count, typename Displacement>
Blocks typed_blocks(const void* base, const Count counts[], const Displacement displacements[], const MPI_Datatype types[],
                    int ranks);

/// The side of a call that has one block.
struct OneBlock {
  const void* base;
  MPI_Count count;
  MPI_Datatype type;

  [[nodiscard]] bool is_in_place() const { return base == MPI_IN_PLACE; }
  [[nodiscard]] BufferArgument argument() const { return {base, count, type}; }
};
/// The other side: `blocks(ranks)` is asked only where it is significant.
template <typename Make>
struct AllBlocks {
  const void* base;
  Make blocks;

  [[nodiscard]] bool is_in_place() const { return base == MPI_IN_PLACE; }
};

inline auto equal(const void* base, MPI_Count count, MPI_Datatype type) {
  return AllBlocks{base, [=](int ranks) { return equal_blocks(base, count, type, ranks); }};
}
auto counted(const void* base, auto counts, auto displacements, MPI_Datatype type) {
  return AllBlocks{base, [=](int ranks) { return counted_blocks(base, counts, displacements, type, ranks); }};
}
auto typed(const void* base, auto counts, auto displacements, const MPI_Datatype types[]) {
  return AllBlocks{base, [=](int ranks) { return typed_blocks(base, counts, displacements, types, ranks); }};
}

class BlockCall {
 public:
  /// What members know of the lengths of blocks: all are equal, all know all, or each pair its own. Of pairs whose members have
  /// lanes, what has room there needs no message.
  enum class Lengths : std::uint8_t { equal, known, of_pairs, of_pairs_in_lanes };
  BlockCall(OrderKind kind, Lengths lengths, MPI_Comm comm, int root = no_root);

  /// Gather and scatter. False: the host carries it.
  template <typename Make>
  [[nodiscard]] bool between(const OneBlock& own, const AllBlocks<Make>& all) {
    if (!is_carried_here()) return false;
    if (is_root() ? all.is_in_place() : own.is_in_place()) return false;
    in_place_ = own.is_in_place();
    if (!in_place_) own_side() = {own.argument()};
    if (is_root()) all_side() = all.blocks(communicator_->size);
    return is_in_order();
  }
  /// Allgather.
  template <typename Make>
  [[nodiscard]] bool between_all(const OneBlock& sent, const AllBlocks<Make>& received) {
    if (!is_carried_here() || received.is_in_place()) return false;
    in_place_ = sent.is_in_place();
    if (!in_place_) operand_ = {sent.argument()};
    result_ = received.blocks(communicator_->size);
    return is_in_order();
  }
  /// Alltoall.
  template <typename MakeSent, typename Make>
  [[nodiscard]] bool between_all(const AllBlocks<MakeSent>& sent, const AllBlocks<Make>& received) {
    if (!is_carried_here() || received.is_in_place()) return false;
    in_place_ = sent.is_in_place();
    if (!in_place_) operand_ = sent.blocks(communicator_->size);
    result_ = received.blocks(communicator_->size);
    return is_in_order();
  }

  /// Where it is carried. Its buffers are complete, and where the processor reaches them.
  [[nodiscard]] PreparedCollective prepare(CallSite site) const;
  /// Of pairs in lanes. MPI's answer.
  int carry_out_in_lanes(CallSite site);

 private:
  static constexpr int no_root = -1;

  [[nodiscard]] bool is_carried_here() const;
  [[nodiscard]] bool is_in_order();
  [[nodiscard]] bool has_own_length_twice() const;
  [[nodiscard]] bool is_exchange_in_place() const { return in_place_ && kind_ == OrderKind::alltoall; }
  void leave_own_part_out();
  void prepare_buffers(PreparedCollective& call) const;
  void prepare_schedule(PreparedCollective& call, const std::vector<std::size_t>& to, const std::vector<std::size_t>& from) const;
  [[nodiscard]] bool is_root() const { return communicator_->rank == root_; }
  [[nodiscard]] Blocks& own_side() { return kind_ == OrderKind::gather ? operand_ : result_; }
  [[nodiscard]] Blocks& all_side() { return kind_ == OrderKind::gather ? result_ : operand_; }
  [[nodiscard]] const BufferArgument* own_block(const Blocks& blocks) const;
  [[nodiscard]] Schedule schedule(const std::vector<std::size_t>& to, const std::vector<std::size_t>& from) const;
  [[nodiscard]] std::size_t agreed_bytes() const;

  OrderKind kind_;
  Lengths lengths_;
  Communicator* communicator_;
  int root_;
  bool in_place_ = false;
  bool is_odd_ = false;  // the block that this rank has for itself has two lengths
  Blocks operand_;
  Blocks result_;
};

}  // namespace sluice
