// MPI_Request_get_status and its forms for arrays (MPI-4.1): what is complete is told and stays as it is.
//
// Requests of the host's beside Sluice's are asked one by one, since the host knows nothing of the others.
#include <algorithm>

#include "interpose/mpi/completion.hpp"
#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/errors.hpp"

namespace sluice::calls {
namespace {

bool complete_after_poll(const Handle& handle) {
  if (handle.is_inactive() || handle.is_complete()) return true;
  engine().progress();
  return handle.is_complete();
}

int Request_get_status(CallSite, MPI_Request request, int* flag, MPI_Status* status) {
  const Handle* handle = flag ? find_handle(request) : nullptr;
  if (!handle) {
    const InHostCall here;
    const int code = host().Request_get_status(request, flag, status);
    // An empty status tells of no error (MPI-3.1, 3.7.3); the host leaves what lay in that field.
    if (request == predefined().request_null && code == MPI_SUCCESS && status != MPI_STATUS_IGNORE)
      status->MPI_ERROR = MPI_SUCCESS;
    return code;
  }
  *flag = complete_after_poll(*handle) ? 1 : 0;
  if (*flag) fill_status(status, peek(*handle));
  return MPI_SUCCESS;
}

/// Only the host's requests, or an argument that it must judge.
bool is_for_host(int count, const MPI_Request requests[]) {
  if (count < 0 || (count > 0 && !requests)) return true;
  if (std::find(requests, requests + count, MPI_Request{}) != requests + count) return true;
  return std::none_of(requests, requests + count, find_handle);
}

/// Null and inactive requests are left out by the calls that tell of some. A persistent one of the host's that is inactive beside
/// requests of Sluice's cannot be told from one that is complete.
bool is_active(MPI_Request request) {
  if (request == predefined().request_null) return false;
  const Handle* handle = find_handle(request);
  return !handle || !handle->is_inactive();
}

/// Whether a request is complete now, and then its status, with MPI_ERROR where it is one of an array.
class Told {
 public:
  explicit Told(bool in_array) : in_array_(in_array) {}

  bool operator()(MPI_Request request, MPI_Status* status) {
    if (const Handle* handle = find_handle(request)) {
      if (!handle->is_inactive() && !handle->is_complete()) return false;
      const Outcome outcome = peek(*handle);
      fill_status(status, outcome);
      set_error(status, code_of(outcome));
      return true;
    }
    int flag = 0;
    const InHostCall here;
    const int code = host().Request_get_status(request, &flag, status);
    if (code_ == MPI_SUCCESS) code_ = code;
    if (flag) set_error(status, MPI_SUCCESS);
    return flag != 0;
  }

  /// MPI_SUCCESS, or the first error of the host.
  [[nodiscard]] int code() const { return code_; }

 private:
  void set_error(MPI_Status* status, int code) const {
    if (in_array_ && status != MPI_STATUS_IGNORE) status->MPI_ERROR = code;
  }

  bool in_array_;
  int code_ = MPI_SUCCESS;
};

/// What is complete already is found without progressing.
template <typename Look>
bool look_twice(Look look) {
  if (look()) return true;
  engine().progress();
  return look();
}

int Request_get_status_all(CallSite, int count, const MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!flag || is_for_host(count, requests)) {
    const InHostCall here;
    return host().Request_get_status_all(count, requests, flag, statuses);
  }
  Told told(true);
  const auto is_complete = [&](MPI_Request request) { return told(request, MPI_STATUS_IGNORE); };
  *flag = look_twice([&] { return std::all_of(requests, requests + count, is_complete); }) ? 1 : 0;
  for (int i = 0; *flag && statuses != MPI_STATUSES_IGNORE && i < count; ++i) told(requests[i], &statuses[i]);
  return told.code();
}

int Request_get_status_any(CallSite, int count, const MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!flag || !index || is_for_host(count, requests)) {
    const InHostCall here;
    return host().Request_get_status_any(count, requests, index, flag, status);
  }
  Told told(false);
  *index = MPI_UNDEFINED;
  *flag = 1;
  if (std::none_of(requests, requests + count, is_active)) {
    fill_status(status, empty_outcome);
    return MPI_SUCCESS;
  }
  const auto is_complete = [&](MPI_Request request) { return is_active(request) && told(request, status); };
  const auto find = [&] {
    const auto* const found = std::find_if(requests, requests + count, is_complete);
    if (found != requests + count) *index = static_cast<int>(found - requests);
    return found != requests + count;
  };
  *flag = look_twice(find) ? 1 : 0;
  return told.code();
}

int Request_get_status_some(CallSite, int count, const MPI_Request requests[], int* completed, int indices[],
                            MPI_Status statuses[]) {
  if (!completed || (count > 0 && !indices) || is_for_host(count, requests)) {
    const InHostCall here;
    return host().Request_get_status_some(count, requests, completed, indices, statuses);
  }
  Told told(true);
  int found = 0;
  const auto collect = [&] {
    for (int i = 0; i < count; ++i) {
      if (is_active(requests[i]) && told(requests[i], status_at(statuses, static_cast<std::size_t>(found)))) indices[found++] = i;
    }
    return found != 0;
  };
  const bool nothing_active = std::none_of(requests, requests + count, is_active);
  *completed = nothing_active || !look_twice(collect) ? 0 : found;
  if (nothing_active) *completed = MPI_UNDEFINED;
  return told.code();
}

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Request_get_status)
EXPORT(Request_get_status_all)
EXPORT(Request_get_status_any)
EXPORT(Request_get_status_some)
