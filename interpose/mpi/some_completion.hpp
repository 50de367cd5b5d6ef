// MPI_Waitsome and MPI_Testsome over Sluice's requests and the host's.
//
// An array that the last call did not leave open is gone through once, and what is complete is completed on the way. One that is
// polled again and again is remembered (request_array.hpp).
#pragma once

#include <array>

#include "interpose/host/host_completion.hpp"
#include "interpose/mpi/completion.hpp"

namespace sluice {

class SomeCompletion {
 public:
  SomeCompletion(int count, MPI_Request requests[], int indices[], MPI_Status statuses[], const char* function)
      : count_(count), requests_(requests), indices_(indices), statuses_(statuses), completion_(function) {}

  /// In an array of which nothing is remembered, or which is remembered from here on. False: nothing was complete, or there is
  /// more to be asked than Sluice; by `collect`.
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
  /// False: there are requests that are not Sluice's.
  bool go_through();
  void collect_ours(RequestArray& array, std::size_t first);
  /// Is complete.
  void add(Handle& handle, int index) {
    if (waiting_ == handles_.size()) finish();
    indices_[found_ + waiting_] = index;
    handles_[waiting_++] = &handle;
  }
  /// All that were added.
  void finish();

  int count_;
  MPI_Request* requests_;
  int* indices_;
  MPI_Status* statuses_;
  ArrayCompletion completion_;
  std::size_t found_ = 0;
  std::size_t waiting_ = 0;  // to be finished
  std::size_t open_ = 0;
  bool exhausted_ = false;
  int host_code_ = MPI_SUCCESS;
  std::array<Handle*, 64> handles_;
};

}  // namespace sluice
