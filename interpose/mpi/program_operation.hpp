// Operations that only the program can do, or only the host: the program's own (MPI_Op_create), and predefined ones on pairs that
// have padding. MPI_Reduce_local does them, called by the thread that is in the collective call, or in that of a window.
#pragma once

#include <mpi.h>

#include <vector>

#include "interpose/mpi/datatypes.hpp"
#include "runtime/collective/own_operation.hpp"

namespace sluice {

/// Made for one call that does all before it returns, during which the program may free neither operation nor type.
class ProgramOperation final : public OwnOperation {
 public:
  ProgramOperation(MPI_Op operation, MPI_Datatype type, const FlatType& flat);

  [[nodiscard]] std::size_t element_bytes() const override;
  void combine(const std::byte* lower, std::byte* upper, std::size_t elements) override;

 private:
  /// Elements of the type as they lie in memory.
  class Elements {
   public:
    void unpack(const FlatType& flat, const std::byte* packed, std::size_t elements);
    void pack(std::byte* packed) const;
    [[nodiscard]] std::byte* origin() const { return buffer_.base; }

   private:
    std::vector<std::byte> memory_;
    UserBuffer buffer_;
  };

  MPI_Op operation_;
  MPI_Datatype type_;
  FlatType flat_;
  Elements lower_;
  Elements upper_;
};

}  // namespace sluice
