// Statuses in the host's format, so that the host's own functions read them.
//
// A receive that was released before its message was known has no count yet. Its status carries a token in the place of the
// count, marked by the top bit (no message has 2^63 bytes); whoever asks for the count resolves it (page-guard rule 3). The
// token survives the copying of statuses, in C and in Fortran.
#pragma once

#include <mpi.h>

#include "runtime/engine.hpp"
#include "runtime/engine/request.hpp"

namespace sluice {

inline constexpr std::size_t lazy_count_mark = std::size_t{1} << 63;

inline void fill_status(MPI_Status* status, const Outcome& outcome) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = static_cast<int>(outcome.source);
  status->MPI_TAG = static_cast<int>(outcome.tag);
  status->_cancelled = outcome.cancelled ? 1 : 0;
  status->_ucount = outcome.lazy_token ? (outcome.lazy_token | lazy_count_mark) : outcome.bytes;
}

/// What MPI returns for null and inactive requests, and for sends: any source, any tag, no bytes.
inline constexpr Outcome empty_outcome{any_source, any_tag, Failure::none, false, 0, 0};
/// What a receive or probe from MPI_PROC_NULL returns.
inline constexpr Outcome no_process_outcome{Rank{MPI_PROC_NULL}, any_tag, Failure::none, false, 0, 0};

/// Of a request that is complete, what a status shows most often. False: there is more to be said, and nothing was written.
inline bool fill_plain(MPI_Status* status, const Request& request) {
  if (request.failure != Failure::none || request.cancelled || request.unknown) [[unlikely]]
    return false;
  if (status == MPI_STATUS_IGNORE) return true;
  const bool receives = !request.is_send();
  status->MPI_SOURCE = receives ? static_cast<int>(request.rank) : static_cast<int>(no_process_outcome.source);
  status->MPI_TAG = static_cast<int>(receives ? request.tag : no_process_outcome.tag);
  status->_cancelled = 0;
  status->_ucount = receives ? request.limit : 0;
  return true;
}

/// A copy with the true count; waits for it when it is not known yet.
MPI_Status with_true_count(const MPI_Status& status);

}  // namespace sluice
