// The host MPI's own functions and predefined objects, found at run time: the library is not linked against libmpi.
//
// The look-up happens on the first use, so that the library is inert in a process that never calls MPI.
#pragma once

#include <mpi.h>
#include <newer_calls.h>

#include <atomic>

namespace sluice {

/// One typed pointer for each call of calls.def, to the PMPI_ function of the next library.
struct HostTable {
#include "host_table.inc"
};

/// Addresses of the host's predefined objects. The macros of mpi.h (MPI_COMM_WORLD, ...) must not be used in this
/// directory: they are undefined data symbols, which a process without libmpi could not resolve.
struct Predefined {
  MPI_Comm comm_world, comm_self, comm_null;
  MPI_Group group_null;
  MPI_Request request_null;
  MPI_Message message_null, message_no_proc;
  MPI_Datatype datatype_null, byte, packed, integer, uint64;
  MPI_Info info_null;
  MPI_Op max, sum, bit_or, replace, no_op;
  MPI_Errhandler errors_are_fatal, errors_return, errors_abort;  // the last one is null in older hosts
};

namespace detail {
extern HostTable host_table;
extern Predefined predefined_objects;
extern std::atomic<bool> host_resolved;
void resolve_host();
int missing_call();
}  // namespace detail

inline bool host_is_resolved() { return detail::host_resolved.load(std::memory_order_acquire); }

inline const HostTable& host() {
  if (!host_is_resolved()) [[unlikely]]
    detail::resolve_host();
  return detail::host_table;
}

inline const Predefined& predefined() {
  if (!host_is_resolved()) [[unlikely]]
    detail::resolve_host();
  return detail::predefined_objects;
}

/// Whether a function of the table is the host's: later calls are missing in older hosts.
template <typename Result, typename... Parameters>
bool host_has(Result (*function)(Parameters...)) {
  return reinterpret_cast<void (*)()>(function) != reinterpret_cast<void (*)()>(&detail::missing_call);
}

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  host().Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm) {
  int size = 0;
  host().Comm_size(comm, &size);
  return size;
}

/// Address of any data symbol of the host; nullptr when it has none of that name.
void* host_symbol(const char* name);

}  // namespace sluice
