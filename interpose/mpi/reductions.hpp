// Which reduction a call asks for: the host's handles of predefined operations and types, of C and of Fortran. Whether a pair is
// known is the same on all ranks of a job.
#pragma once

#include <mpi.h>

#include "runtime/collective/reduction.hpp"

namespace sluice {

/// After the host's MPI_Init, before the first `reduction_of`: looks the host's handles up.
void open_reductions();

/// nullptr: the operation is the program's own, the type is none of those that kernels know, or the two do not go together. The
/// host reduces then, or refuses. [any thread]
///
/// Types of one representation are one: MPI_INT, MPI_INT32_T and MPI_INTEGER give the same reduction.
const Reduction* reduction_of(MPI_Op operation, MPI_Datatype type);

/// MPI_Op_create has made it: it is none of the host's own. [any thread]
bool is_own_operation(MPI_Op operation);

}  // namespace sluice
