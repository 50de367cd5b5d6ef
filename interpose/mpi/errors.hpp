// Errors that Sluice finds itself: they go through the error handler of the communicator, as the host's do.
#pragma once

#include "interpose/mpi/communicators.hpp"
#include "runtime/engine.hpp"

namespace sluice {

/// The error handler of `comm` ends the job. Any other may return.
bool errors_are_fatal(MPI_Comm comm);

/// Calls the error handler; returns `code` when that returns. Communicators that were freed use MPI_COMM_WORLD's.
int raise_error(const Communicator& communicator, int code, const char* function);

/// MPI_SUCCESS or the error of an operation that completed.
inline int code_of(const Outcome& outcome) { return outcome.failure == Failure::none ? MPI_SUCCESS : MPI_ERR_TRUNCATE; }

/// The answer of a call that completed one operation.
inline int conclude(const Outcome& outcome, const Communicator& communicator, const char* function) {
  if (outcome.failure == Failure::none) [[likely]]
    return MPI_SUCCESS;
  return raise_error(communicator, code_of(outcome), function);
}

}  // namespace sluice
