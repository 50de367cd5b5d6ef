// Endings that the completion calls share.
//
// As the host does it: a call with one status leaves MPI_ERROR alone; a call with an array of statuses fills MPI_ERROR in each
// status that it writes, and answers MPI_ERR_IN_STATUS when one of them is an error, after the error handler was called with that
// error.
#pragma once

#include <span>

#include "interpose/mpi/request_array.hpp"

namespace sluice {

inline MPI_Status* status_at(MPI_Status* statuses, std::size_t index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

/// Completes one request of Sluice's for a call with one status.
int finish_one(Handle& handle, MPI_Request& slot, MPI_Status* status, const char* function);
int finish_one(RequestArray& array, std::size_t index, MPI_Status* status, const char* function);

/// Where the first request that is not null is Sluice's and complete, a call for any of them need not look further.
Handle* first_if_complete(int count, const MPI_Request requests[], int* index);
/// The first complete one in an array of which nothing is remembered, or which is remembered from here on. nullptr: there is
/// none, or there are requests that are not Sluice's in front of it.
Handle* first_unremembered(RequestArray& array, int count, const MPI_Request requests[], int* index);
/// Completes what these have found. The array may have been followed.
int finish_first(Handle& handle, RequestArray& array, int index, MPI_Status* status, const char* function);
/// The only request, if it is an active one of Sluice's: then there is no array to be sorted.
Handle* only_one(int count, const MPI_Request requests[]);
/// Completes it for a call with an array of statuses.
int finish_only(Handle& handle, MPI_Request& slot, MPI_Status statuses[], const char* function);

/// There is something to look at.
inline bool is_array(int count, const MPI_Request requests[]) { return count > 0 && requests; }
/// There is, but nothing will ever come of it.
inline bool are_all_null(int count, const MPI_Request requests[]) {
  if (!is_array(count, requests)) return false;
  const MPI_Request null = predefined().request_null;
  int i = 0;
  while (i < count && requests[i] == null) ++i;
  return i == count;
}

/// Completes all requests, which are Sluice's and complete or released, null, or inactive.
int finish_all(int count, MPI_Request requests[], MPI_Status statuses[], const char* function);
/// The same where the handles have been found already, nullptr for what is null or inactive.
int finish_all(std::span<Handle* const> handles, MPI_Request requests[], MPI_Status statuses[], const char* function);

/// The same of those that are Sluice's in an array with some of the host's, which are complete. `host_code`: what the host
/// answered.
int finish_ours(RequestArray& array, MPI_Status statuses[], int host_code, const char* function);

/// Completes requests of Sluice's for a call with an array of statuses, and keeps the first error.
class ArrayCompletion {
 public:
  explicit ArrayCompletion(const char* function) : function_(function) {}

  void finish(Handle& handle, MPI_Request& slot, MPI_Status* status) {
    Communicator* const communicator = handle.communicator;
    note(communicator, status, sluice::finish(handle, slot));
  }
  /// Handles that are complete or released, nullptr for what is null or inactive. Where each stands in the array, `place` says;
  /// the first has its status there, and the others theirs by `status_place`.
  template <typename Place, typename StatusPlace>
  void finish(std::span<Handle* const> handles, MPI_Request requests[], const Place& place, MPI_Status* first,
              const StatusPlace& status_place) {
    const MPI_Request null = predefined().request_null;
    FinishedHandles finished;
    for (std::size_t i = 0; i < handles.size(); ++i) {
      Handle* const handle = handles[i];
      MPI_Status* const status = status_at(first, status_place(i));
      if (!handle) {
        fill_empty(status);
      } else if (handle->is_simple() && handle->is_complete()) [[likely]] {
        requests[place(i)] = null;
        note(handle->communicator, status, visible(handle->receives, outcome_of(*handle->active)));
        finished.add(*handle);
      } else {
        finish(*handle, requests[place(i)], status);
      }
    }
    finished.give_back();
  }
  static void fill_empty(MPI_Status* status) { fill(status, empty_outcome); }
  /// Calls the error handler when there was an error of Sluice's. `host_code`: what the host answered for its part.
  int conclude(int host_code);

 private:
  static void fill(MPI_Status* status, const Outcome& outcome) {
    fill_status(status, outcome);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
  }
  void note(Communicator* communicator, MPI_Status* status, const Outcome& outcome) {
    fill(status, outcome);
    if (outcome.failure != Failure::none) [[unlikely]]
      note_failure(communicator, status, outcome);
  }
  void note_failure(Communicator* communicator, MPI_Status* status, const Outcome& outcome);

  const char* function_;
  Communicator* failed_ = nullptr;
  int code_ = MPI_SUCCESS;
};

}  // namespace sluice
