// The host's side of completion calls: whole calls when only the host is concerned, and its part of a mixed array.
#pragma once

#include "interpose/mpi/request_array.hpp"

namespace sluice {

int host_wait(MPI_Request* request, MPI_Status* status);
int host_test(MPI_Request* request, int* flag, MPI_Status* status);
int host_wait_all(int count, MPI_Request requests[], MPI_Status statuses[]);
int host_test_all(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]);
int host_wait_any(int count, MPI_Request requests[], int* index, MPI_Status* status);
int host_test_any(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status);
int host_wait_some(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]);
int host_test_some(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]);

/// The only request of the host's in an array, at its place there.
class HostRequest {
 public:
  HostRequest(MPI_Request requests[], int place) : slot_(requests[place]), place_(place) {}

  /// As those of HostPart.
  bool test_any(int* index, MPI_Status* status);
  std::size_t test_some(int indices[], MPI_Status statuses[]);
  [[nodiscard]] bool inactive() const { return inactive_; }
  [[nodiscard]] int code() const { return code_; }

 private:
  MPI_Request& slot_;
  int place_;
  bool inactive_ = false;
  int code_ = MPI_SUCCESS;
};

/// The host's requests of a mixed array. Each function completes what it can and writes requests and statuses back.
class HostPart {
 public:
  /// `statuses`: the application's, for test_all; may be MPI_STATUSES_IGNORE.
  HostPart(RequestArray& array, MPI_Status* statuses);

  /// True once all are complete; then the host is not asked again.
  bool test_all();
  /// True when one was complete: `index` is its place in the application's array.
  bool test_any(int* index, MPI_Status* status);
  /// Appends what is complete; returns how many.
  std::size_t test_some(int indices[], MPI_Status statuses[]);

  /// The host has found none of its requests active.
  [[nodiscard]] bool inactive() const { return inactive_; }
  /// The host's answer to the last call that completed something.
  [[nodiscard]] int code() const { return code_; }

 private:
  RequestArray& array_;
  MPI_Status* statuses_;
  bool done_ = false;
  bool inactive_ = false;
  int code_ = MPI_SUCCESS;
};

}  // namespace sluice
