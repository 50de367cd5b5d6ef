// Endings that the completion calls share.
//
// As the host does it: a call with one status leaves MPI_ERROR alone; a call with an array of statuses fills MPI_ERROR in each
// status that it writes, and answers MPI_ERR_IN_STATUS when one of them is an error, after the error handler was called with that
// error.
#pragma once

#include <span>

#include "interpose/mpi/array_look.hpp"
#include "interpose/mpi/request_array.hpp"

namespace sluice {

inline MPI_Status* status_at(MPI_Status* statuses, std::size_t index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

/// For what a look has found open. The caller asks the host itself where that has requests of the array.
void poll_for(const Seen& seen);

/// Completes one request of Sluice's for a call with one status.
int finish_one(Handle& handle, MPI_Request& slot, MPI_Status* status, CallSite site);
int finish_one(RequestArray& array, std::size_t index, MPI_Status* status, CallSite site);

/// Where the first request that is not null is Sluice's and complete, a call for any of them need not look further.
Handle* first_if_complete(int count, const MPI_Request requests[], int* index);
/// The first complete one in an array of which nothing is remembered, or which is remembered from here on. nullptr: there is
/// none, or there are requests that are not Sluice's in front of it.
Handle* first_unremembered(RequestArray& array, int count, const MPI_Request requests[], int* index);
/// Completes what these have found. The array may have been followed.
int finish_first(Handle& handle, RequestArray& array, int index, MPI_Status* status, CallSite site);
/// The only request, if it is one of Sluice's: then there is no array to be sorted.
Handle* only_one(int count, const MPI_Request requests[]);
/// Completes it for a call with an array of statuses.
int finish_only(Handle& handle, MPI_Request& slot, MPI_Status statuses[], CallSite site);

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
int finish_all(int count, MPI_Request requests[], MPI_Status statuses[], CallSite site);
/// The same where the handles have been found already, nullptr for what is null or inactive.
int finish_all(std::span<Handle* const> handles, MPI_Request requests[], MPI_Status statuses[], CallSite site);

/// The same of those that are Sluice's in an array with some of the host's, which are complete. `host_code`: what the host
/// answered.
int finish_ours(RequestArray& array, MPI_Status statuses[], int host_code, CallSite site);

/// Completes requests of Sluice's for a call with an array of statuses, and keeps the first error.
class ArrayCompletion {
 public:
  explicit ArrayCompletion(CallSite site) : site_(site) {}

  void finish(Handle& handle, MPI_Request& slot, MPI_Status* status) {
    Communicator* const communicator = handle.communicator;
    note(communicator, status, sluice::finish(handle, slot));
  }
  /// One that is complete or released. What can be given back together with others is added to `finished`.
  void finish(Handle& handle, MPI_Request& slot, MPI_Status* status, FinishedHandles& finished) {
    if (handle.is_simple() && handle.is_complete()) [[likely]] {
      if (fill_plain(status, *handle.active)) [[likely]] {
        if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
      } else {
        note(handle.communicator, status, visible(handle.receives, outcome_of(*handle.active)));
      }
      slot = predefined().request_null;
      finished.add(handle);
    } else if (handle.kind == Handle::Kind::instant) {
      slot = predefined().request_null;
      fill(status, visible(handle.receives, handle.outcome));
    } else {
      finish(handle, slot, status);
    }
  }
  /// So are all of these, nullptr for what is null or inactive.
  void finish(std::span<Handle* const> handles, MPI_Request requests[], MPI_Status statuses[]) {
    FinishedHandles finished;
    for (std::size_t i = 0; i < handles.size(); ++i) {
      MPI_Status* const status = status_at(statuses, i);
      if (handles[i]) {
        finish(*handles[i], requests[i], status, finished);
      } else {
        fill_empty(status);
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

  CallSite site_;
  Communicator* failed_ = nullptr;
  int code_ = MPI_SUCCESS;
};

}  // namespace sluice
