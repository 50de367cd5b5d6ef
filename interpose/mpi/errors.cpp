#include "interpose/mpi/errors.hpp"

#include <array>
#include <cstdio>

#include "interpose/mpi/entry.hpp"

namespace sluice {
namespace {

/// The host's fatal handler would blame MPI_Comm_call_errhandler; say first which call it was.
void name_call_if_fatal(MPI_Comm comm, int code, const char* function) {
  if (!errors_are_fatal(comm)) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  host().Error_string(code, text.data(), &length);
  std::fprintf(stderr, "sluice: rank %d: %s: %s\n", session().world_rank(), function, text.data());
}

}  // namespace

bool errors_are_fatal(MPI_Comm comm) {
  MPI_Errhandler handler{};
  if (host().Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool fatal =
      handler == predefined().errors_are_fatal || (predefined().errors_abort && handler == predefined().errors_abort);
  host().Errhandler_free(&handler);
  return fatal;
}

int raise_error(const Communicator& communicator, int code, const char* function) {
  const bool freed = communicator.freed.load(std::memory_order_relaxed);
  const MPI_Comm comm = freed ? predefined().comm_world : communicator.handle;
  name_call_if_fatal(comm, code, function);
  host().Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace sluice
