// Endings that the completion calls share.
//
// As the host does it: a call with one status leaves MPI_ERROR alone; a call with an array of statuses fills MPI_ERROR in each
// status that it writes, and answers MPI_ERR_IN_STATUS when one of them is an error, after the error handler was called with that
// error.
#pragma once

#include "interpose/request_array.hpp"

namespace sluice {

inline MPI_Status* status_at(MPI_Status* statuses, std::size_t index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

/// Completes one request of Sluice's for a call with one status.
int finish_one(Handle& handle, MPI_Request& slot, MPI_Status* status, const char* function);
int finish_one(RequestArray& array, std::size_t index, MPI_Status* status, const char* function);

/// Where the first request that is not null is Sluice's and complete, a call for any of them need not look further.
Handle* first_if_complete(int count, const MPI_Request requests[], int* index);
/// The only request, if it is an active one of Sluice's: then there is no array to be sorted.
Handle* only_one(int count, const MPI_Request requests[]);
/// Completes it for a call with an array of statuses.
int finish_only(Handle& handle, MPI_Request& slot, MPI_Status statuses[], const char* function);

/// The engine gives up all of Sluice's at once; statuses are the application's memory, which is not to be touched meanwhile. An
/// outcome of each, in their order, until the call ends.
const Outcome* take_all(RequestArray& array);

/// Completes requests of Sluice's for a call with an array of statuses, and keeps the first error.
class ArrayCompletion {
 public:
  explicit ArrayCompletion(const char* function) : function_(function) {}

  /// The engine has given up what stands there, with this outcome; it has none for what was complete at once. The array has to be
  /// told.
  void finish(RequestArray& array, std::size_t index, MPI_Status* status, const Outcome& taken);
  static void fill_empty(MPI_Status* status);
  /// Calls the error handler when there was an error of Sluice's. `host_code`: what the host answered for its part.
  int conclude(int host_code);

  /// One that is given up already.
  void note(Communicator* communicator, MPI_Status* status, const Outcome& outcome);

 private:
  const char* function_;
  Communicator* failed_ = nullptr;
  int code_ = MPI_SUCCESS;
};

}  // namespace sluice
