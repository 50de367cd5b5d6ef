#include "interpose/completion.hpp"

#include "interpose/errors.hpp"

namespace sluice {

int finish_one(Handle& handle, MPI_Request& slot, MPI_Status* status, const char* function) {
  Communicator* communicator = handle.communicator;
  const Outcome outcome = finish(handle, slot);
  fill_status(status, outcome);
  return outcome.failure == Failure::none ? MPI_SUCCESS : conclude(outcome, *communicator, function);
}

void ArrayCompletion::finish(Handle& handle, MPI_Request& slot, MPI_Status* status) {
  Communicator* communicator = handle.communicator;
  note(communicator, status, sluice::finish(handle, slot));
}

void ArrayCompletion::finish(Handle& handle, MPI_Request& slot, MPI_Status* status, const Outcome& taken) {
  Communicator* communicator = handle.communicator;
  note(communicator, status, sluice::finish(handle, slot, taken));
}

void ArrayCompletion::note(Communicator* communicator, MPI_Status* status, const Outcome& outcome) {
  fill_status(status, outcome);
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = code_of(outcome);
  if (outcome.failure == Failure::none || failed_) return;
  failed_ = communicator;
  code_ = code_of(outcome);
}

void ArrayCompletion::fill_empty(MPI_Status* status) {
  fill_status(status, empty_outcome);
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
}

int ArrayCompletion::conclude(int host_code) {
  if (failed_) {
    raise_error(*failed_, code_, function_);
    return MPI_ERR_IN_STATUS;
  }
  return host_code;
}

}  // namespace sluice
