#include "interpose/session/finalize_callback.hpp"

#include <stdexcept>

#include "interpose/mpi/entry.hpp"

namespace sluice {
namespace {

/// Duplicates of MPI_COMM_SELF do not inherit it.
int leave_out(MPI_Comm, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

int close_session(MPI_Comm, int, void*, void*) {
  Session::close();
  return MPI_SUCCESS;
}

}  // namespace

void close_session_after_callbacks() {
  int key = MPI_KEYVAL_INVALID;
  if (host().Comm_create_keyval(leave_out, close_session, &key, nullptr) != MPI_SUCCESS ||
      host().Comm_set_attr(predefined().comm_self, key, nullptr) != MPI_SUCCESS) {
    throw std::runtime_error("MPI_COMM_SELF takes no attribute");
  }
}

}  // namespace sluice
