#include "interpose/mpi/completion.hpp"

#include <algorithm>
#include <array>

#include "interpose/host/host.hpp"
#include "interpose/mpi/errors.hpp"
#include "interpose/mpi/open_requests.hpp"
#include "interpose/session/session.hpp"

namespace sluice {

int finish_one(Handle& handle, MPI_Request& slot, MPI_Status* status, CallSite site) {
  if (finish_plain(handle, slot, status)) [[likely]]
    return MPI_SUCCESS;
  Communicator* communicator = handle.communicator;
  const Outcome outcome = finish(handle, slot);
  fill_status(status, outcome);
  return outcome.failure == Failure::none ? MPI_SUCCESS : conclude(outcome, *communicator, site.function());
}

int finish_one(RequestArray& array, std::size_t index, MPI_Status* status, CallSite site) {
  Handle& handle = *array.handle(index);
  Communicator* communicator = handle.communicator;
  Outcome outcome;
  {
    const auto own = array.own_changes();
    outcome = finish(handle, array.slot(index));
    array.finished(index);
  }
  fill_status(status, outcome);
  return outcome.failure == Failure::none ? MPI_SUCCESS : conclude(outcome, *communicator, site.function());
}

void poll_for(const Seen& seen) {
  engine().progress(seen.open > 1 ? Engine::Awaits::several : Engine::Awaits::not_said,
                    seen.others != 0 ? Engine::Host::is_called : Engine::Host::has_turns);
}

Handle* first_if_complete(int count, const MPI_Request requests[], int* index) {
  if (count <= 0 || !requests) return nullptr;
  const MPI_Request null = predefined().request_null;
  int i = 0;
  while (i < count - 1 && requests[i] == null) ++i;
  Handle* const handle = find_handle(requests[i]);
  if (!handle || handle->is_inactive() || !handle->is_complete()) return nullptr;
  *index = i;
  return handle;
}

Handle* first_unremembered(RequestArray& array, int count, const MPI_Request requests[], int* index) {
  if (count <= 0 || !requests) return nullptr;
  const FirstLook look(count, requests);
  if (!look.complete || look.seen.others != 0) return nullptr;
  *index = look.index;
  if (look.seen.open > count / 2) array.follow(count);  // it is polled, most likely
  return look.complete;
}

int finish_first(Handle& handle, RequestArray& array, int index, MPI_Status* status, CallSite site) {
  const auto place = static_cast<std::size_t>(index);
  return array.is_followed() ? finish_one(array, place, status, site) : finish_one(handle, array.slot(place), status, site);
}

Handle* only_one(int count, const MPI_Request requests[]) { return count == 1 && requests ? find_handle(requests[0]) : nullptr; }

int finish_only(Handle& handle, MPI_Request& slot, MPI_Status statuses[], CallSite site) {
  ArrayCompletion completion(site);
  if (finish_plain(handle, slot, statuses)) [[likely]] {
    if (statuses != MPI_STATUSES_IGNORE) statuses->MPI_ERROR = MPI_SUCCESS;
    return MPI_SUCCESS;
  }
  completion.finish(handle, slot, statuses);
  return completion.conclude(MPI_SUCCESS);
}

int finish_all(std::span<Handle* const> handles, MPI_Request requests[], MPI_Status statuses[], CallSite site) {
  ArrayCompletion completion(site);
  completion.finish(handles, requests, statuses);
  return completion.conclude(MPI_SUCCESS);
}

int finish_all(int count, MPI_Request requests[], MPI_Status statuses[], CallSite site) {
  ArrayCompletion completion(site);
  HandleSearch search;
  std::array<Handle*, OpenRequests::max_kept> handles;
  const auto size = static_cast<std::size_t>(count);
  const MPI_Request null = predefined().request_null;
  for (std::size_t begin = 0; begin < size; begin += handles.size()) {
    const std::size_t length = std::min(size - begin, handles.size());
    MPI_Request* const window = requests + begin;
    for (std::size_t i = 0; i < length; ++i) {
      Handle* const handle = window[i] != null ? search.find(window[i]) : nullptr;
      handles[i] = handle && !handle->is_inactive() ? handle : nullptr;
      if (!handle && window[i] != null) window[i] = null;  // it was named twice
    }
    completion.finish({handles.data(), length}, window, status_at(statuses, begin));
  }
  return completion.conclude(MPI_SUCCESS);
}

int finish_ours(RequestArray& array, MPI_Status statuses[], int host_code, CallSite site) {
  ArrayCompletion completion(site);
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (Handle* const handle = array.handle(i)) {
      completion.finish(*handle, array.slot(i), status_at(statuses, i));
    } else if (!array.is_host(i)) {
      ArrayCompletion::fill_empty(status_at(statuses, i));
    }
  }
  array.forget();
  return completion.conclude(host_code);
}

void ArrayCompletion::note_failure(Communicator* communicator, MPI_Status* status, const Outcome& outcome) {
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = code_of(outcome);
  if (failed_) return;
  failed_ = communicator;
  code_ = code_of(outcome);
}

int ArrayCompletion::conclude(int host_code) {
  if (failed_) {
    raise_error(*failed_, code_, site_.function());
    return MPI_ERR_IN_STATUS;
  }
  return host_code;
}

}  // namespace sluice
