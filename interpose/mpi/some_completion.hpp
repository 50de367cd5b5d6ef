// MPI_Waitsome and MPI_Testsome over Sluice's requests and the host's.
//
// An array that the last call did not leave open is gone through once, and what is complete is completed on the way. One that is
// polled again and again is remembered (request_array.hpp).
#pragma once

#include "interpose/host/host_completion.hpp"
#include "interpose/mpi/completion.hpp"

namespace sluice {

class SomeCompletion {
 public:
  SomeCompletion(int count, MPI_Request requests[], int indices[], MPI_Status statuses[], CallSite site)
      : site_(site), count_(count), requests_(requests), indices_(indices), statuses_(statuses), completion_(site) {}

  /// In a short array. False: by `collect`, since more of it is the host's than one request, or any when it waits.
  bool test_short();
  bool wait_short();
  /// For the only request that is left, one of Sluice's, as MPI_Wait does: it may be released.
  void wait_for_last(RequestArray& array);
  /// In a long array of which nothing is remembered, or which is remembered from here on. False: nothing was complete, or there
  /// is more to be asked than Sluice; by `collect`.
  bool collect_unremembered(RequestArray& array);
  /// Completes everything that is complete now, `first` in front; true when that was anything, also before, or when nothing ever
  /// will be.
  bool collect(RequestArray& array, std::size_t first);
  /// Completes those of the host's that are complete now. Whether none of them ever will be.
  bool collect_hosts(RequestArray& array);
  /// Completed so far.
  [[nodiscard]] std::size_t found() const { return found_; }
  int conclude(int* completed);

 private:
  Seen go_through();
  void collect_ours(RequestArray& array, std::size_t first);
  /// Is complete.
  void add(Handle& handle, int index, FinishedHandles& finished) {
    indices_[found_] = index;
    completion_.finish(handle, requests_[index], status_at(statuses_, found_), finished);
    ++found_;
  }

  void wait_for_last(Handle& handle, int index);

  CallSite site_;
  int count_;
  MPI_Request* requests_;
  int* indices_;
  MPI_Status* statuses_;
  ArrayCompletion completion_;
  std::size_t found_ = 0;
  bool exhausted_ = false;
  int host_code_ = MPI_SUCCESS;
};

}  // namespace sluice
