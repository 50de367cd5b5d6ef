// Reductions that go by messages: where their operands and results are, and what combines them.
#pragma once

#include "interpose/mpi/prepared_collective.hpp"

namespace sluice {

/// Operand and result where the processor reaches them. In place they stay one, if the type has no gaps. `result`: nullptr on a
/// rank without one.
void place_operands(PreparedCollective& call, const ReduceArguments& arguments, const BufferArgument* result, Shape& shape);

/// MPI_Reduce and MPI_Allreduce whose operation only the program can do.
PreparedCollective prepare_reduce(const ReduceArguments& arguments, CallSite site);

}  // namespace sluice
