// The arguments of collective calls: whether Sluice carries the call, and what it is about.
//
// All members must come to the same answer, each by itself. So it follows only from what MPI makes equal on all of them: the
// communicator, the kind of the call, root, operation, type and count of a reduction, and the packed bytes of any other call.
// Whether a buffer is in place, on a device, aligned or described by another type than elsewhere changes what this rank does, and
// not who carries. Arguments that are not in order go to the host, which raises the error; the other members wait, as on the
// host.
#pragma once

#include "interpose/mpi/arguments.hpp"
#include "runtime/collective/reduction.hpp"

namespace sluice {

/// MPI_Bcast.
class BcastArguments {
 public:
  BcastArguments(const void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
      : communicator_(adopted(comm)), buffer_(buffer, count, type), root_(root) {}

  [[nodiscard]] bool carried() const;

  // The rest only when carried.
  /// A blocking call does; others, and what does not fit, go by messages.
  [[nodiscard]] bool goes_through_lanes() const;
  [[nodiscard]] Communicator& communicator() const { return *communicator_; }
  [[nodiscard]] const BufferArgument& buffer() const { return buffer_; }
  [[nodiscard]] Rank root() const { return Rank{root_}; }
  [[nodiscard]] bool is_root() const { return communicator_->rank == root_; }

 private:
  Communicator* communicator_;
  BufferArgument buffer_;
  int root_;
};

/// MPI_Reduce and MPI_Allreduce. Arguments that are not significant on this rank are never read.
class ReduceArguments {
 public:
  /// Of MPI_Allreduce, which has no root.
  static constexpr int no_root = -1;

  ReduceArguments(const void* own, void* result, MPI_Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);

  [[nodiscard]] bool carried() const;
  /// A long blocking call that is not `carried` is carried by messages, and a thread of the program combines the operands: the
  /// operation is its own, or the pairs have padding. Alike on all members, as operation, type and count are.
  [[nodiscard]] bool carried_by_program() const;
  /// ... of a call that has no way through lanes.
  [[nodiscard]] bool carried_by_messages() const;

  // The rest only when carried in one of these ways.
  /// A blocking call does; others, and what does not fit, go by messages.
  [[nodiscard]] bool goes_through_lanes() const;
  [[nodiscard]] Communicator& communicator() const { return *communicator_; }
  [[nodiscard]] bool has_result() const { return root_ == no_root || communicator_->rank == root_; }
  /// The operand; in place, it lies where the result will.
  [[nodiscard]] BufferArgument own() const { return {is_in_place() ? result_ : own_, count_, type_}; }
  [[nodiscard]] BufferArgument result() const { return {result_, count_, type_}; }
  /// Where it is `carried`.
  [[nodiscard]] const Reduction& reduction() const { return *reduction_; }
  // Otherwise:
  [[nodiscard]] MPI_Op operation() const { return operation_; }
  [[nodiscard]] MPI_Datatype datatype() const { return datatype_; }
  [[nodiscard]] const FlatType& type() const { return *type_; }
  /// Packed; parts are cut between elements.
  [[nodiscard]] std::size_t element_bytes() const;
  /// What the members must agree on besides bytes.
  [[nodiscard]] std::uint16_t code() const;
  [[nodiscard]] std::optional<Rank> root() const { return root_ == no_root ? std::nullopt : std::optional(Rank{root_}); }

 private:
  [[nodiscard]] bool is_in_place() const { return own_ == MPI_IN_PLACE; }
  [[nodiscard]] bool is_in_order() const;
  [[nodiscard]] bool is_short() const;

  Communicator* communicator_;
  MPI_Op operation_;
  MPI_Datatype datatype_;
  const void* own_;
  void* result_;
  MPI_Count count_;
  const FlatType* type_ = nullptr;
  const Reduction* reduction_;
  int root_;
};

}  // namespace sluice
