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

/// Completes requests of Sluice's for a call with an array of statuses, and keeps the first error.
class ArrayCompletion {
 public:
  explicit ArrayCompletion(const char* function) : function_(function) {}

  void finish(Handle& handle, MPI_Request& slot, MPI_Status* status);
  void finish(Handle& handle, MPI_Request& slot, MPI_Status* status, const Outcome& taken);
  static void fill_empty(MPI_Status* status);
  /// Calls the error handler when there was an error of Sluice's. `host_code`: what the host answered for its part.
  int conclude(int host_code);

 private:
  void note(Communicator* communicator, MPI_Status* status, const Outcome& outcome);

  const char* function_;
  Communicator* failed_ = nullptr;
  int code_ = MPI_SUCCESS;
};

}  // namespace sluice
