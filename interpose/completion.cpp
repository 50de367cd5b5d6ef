#include "interpose/completion.hpp"

#include "interpose/errors.hpp"
#include "interpose/host.hpp"
#include "interpose/session.hpp"

namespace sluice {

int finish_one(Handle& handle, MPI_Request& slot, MPI_Status* status, const char* function) {
  Communicator* communicator = handle.communicator;
  const Outcome outcome = finish(handle, slot);
  fill_status(status, outcome);
  return outcome.failure == Failure::none ? MPI_SUCCESS : conclude(outcome, *communicator, function);
}

int finish_one(RequestArray& array, std::size_t index, MPI_Status* status, const char* function) {
  Handle& handle = *array.handle(index);
  Communicator* communicator = handle.communicator;
  const Outcome outcome = finish(handle, array.slot(index));
  array.finished(index);
  fill_status(status, outcome);
  return outcome.failure == Failure::none ? MPI_SUCCESS : conclude(outcome, *communicator, function);
}

Handle* first_if_complete(int count, const MPI_Request requests[], int* index) {
  if (count <= 0 || !requests) return nullptr;
  const MPI_Request null = predefined().request_null;
  int i = 0;
  while (i < count - 1 && requests[i] == null) ++i;
  Handle* const handle = find_handle(requests[i]);
  if (!handle || handle->is_inactive() || !handle->is_complete()) return nullptr;
  *index = i;
  return handle;
}

Handle* only_one(int count, const MPI_Request requests[]) {
  Handle* const handle = count == 1 && requests ? find_handle(requests[0]) : nullptr;
  return handle && !handle->is_inactive() ? handle : nullptr;
}

int finish_only(Handle& handle, MPI_Request& slot, MPI_Status statuses[], const char* function) {
  ArrayCompletion completion(function);
  Communicator* communicator = handle.communicator;
  completion.note(communicator, statuses, finish(handle, slot));
  return completion.conclude(MPI_SUCCESS);
}

const Outcome* take_all(RequestArray& array) {
  Outcome* const outcomes = array.outcomes();
  engine().take(array.engine_requests(), outcomes);
  return outcomes;
}

void ArrayCompletion::finish(RequestArray& array, std::size_t index, MPI_Status* status, const Outcome& taken) {
  Handle& handle = *array.handle(index);
  Communicator* communicator = handle.communicator;
  const Outcome outcome = sluice::finish(handle, array.slot(index), handle.active ? taken : handle.outcome);
  note(communicator, status, outcome);
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
