// MPI_Wait, MPI_Waitall, MPI_Waitany, MPI_Waitsome.
//
// Requests of one side only wait in that side's own call. A mixture is polled on both sides; receives in a mixture are not
// released, since the host has something outstanding.
#include <array>

#include "interpose/host/host_completion.hpp"
#include "interpose/mpi/completion.hpp"
#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/open_requests.hpp"
#include "interpose/mpi/some_completion.hpp"

namespace sluice::calls {
namespace {

int Wait(CallSite site, MPI_Request* request, MPI_Status* status) {
  Handle* handle = request ? find_handle(*request) : nullptr;
  if (!handle) return host_wait(request, status);
  if (!handle->is_inactive() && !handle->is_complete()) engine().wait_all({&handle->active, 1}, site);
  return finish_one(*handle, *request, status, site);
}

/// Waits for everything; the host's part is completed by then.
int wait_for_both(RequestArray& array, MPI_Status* statuses) {
  HostPart part(array, statuses);
  Engine::Pause pause(engine());
  for (;;) {
    engine().progress();
    if (part.test_all() && array.all_complete()) return part.code();
    pause.step();
  }
}

int wait_for_all_of_both(CallSite site, int count, MPI_Request requests[], MPI_Status statuses[]) {
  RequestArray array(requests);
  if (!array.follow(count)) return host().Waitall(count, requests, statuses);
  if (array.has_only_hosts()) return host_wait_all(count, requests, statuses);
  int host_code = MPI_SUCCESS;
  if (array.hosts() != 0) {
    host_code = wait_for_both(array, statuses);
  } else if (!array.all_complete()) {
    engine().wait_all(array.engine_requests(), site);
  }
  return finish_ours(array, statuses, host_code, site);
}

/// A window of messages, most often. False: it is a large one, or some are not Sluice's; nothing was done.
bool wait_for_window(CallSite site, int count, MPI_Request requests[], MPI_Status statuses[], int* code) {
  constexpr std::size_t most = 64;
  const auto size = static_cast<std::size_t>(count);
  if (size > most) return false;
  std::array<Handle*, most> handles;
  std::array<Request*, most> open;
  std::size_t open_size = 0;
  HandleSearch search;
  const MPI_Request null = predefined().request_null;
  for (std::size_t i = 0; i < size; ++i) {
    handles[i] = nullptr;
    if (requests[i] == null) continue;
    Handle* const handle = search.find(requests[i]);
    if (!handle) return false;
    if (!handle->is_complete()) open[open_size++] = handle->active;
    if (!handle->is_inactive()) handles[i] = handle;
  }
  if (open_size != 0) engine().wait_all({open.data(), open_size}, site);
  *code = finish_all({handles.data(), size}, requests, statuses, site);
  return true;
}

int Waitall(CallSite site, int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (Handle* only = only_one(count, requests)) {
    if (!only->is_complete()) engine().wait_all({&only->active, 1}, site);
    return finish_only(*only, requests[0], statuses, site);
  }
  if (is_array(count, requests)) {
    int code = MPI_SUCCESS;
    if (wait_for_window(site, count, requests, statuses, &code)) return code;
    if (OpenRequests(count, requests).look() == OpenRequests::Found::none) return finish_all(count, requests, statuses, site);
  }
  return wait_for_all_of_both(site, count, requests, statuses);
}

int nothing_to_wait_for(int* index, MPI_Status* status) {
  *index = MPI_UNDEFINED;
  fill_status(status, empty_outcome);
  return MPI_SUCCESS;
}

int wait_for_any_of_both(RequestArray& array, int* index, MPI_Status* status, CallSite site) {
  HostPart part(array, MPI_STATUSES_IGNORE);
  Engine::Pause pause(engine());
  for (;;) {
    engine().progress();
    const std::size_t first = array.first_complete();
    if (first < array.size()) {
      *index = static_cast<int>(first);
      return finish_one(array, first, status, site);
    }
    if (part.test_any(index, status)) return part.code();
    if (part.inactive() && array.ours() == 0) return nothing_to_wait_for(index, status);
    pause.step();
  }
}

int wait_for_last(CallSite site, LastOpen last, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!last.handle->is_complete()) engine().wait_all({&last.handle->active, 1}, site);
  *index = last.index;
  return finish_one(*last.handle, requests[last.index], status, site);
}

/// Nothing but Sluice's requests in a short array.
int wait_for_any_of_short(CallSite site, FirstLook look, int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!look.complete) {
    if (look.seen.open == 0) return nothing_to_wait_for(index, status);
    if (look.seen.open == 1) return wait_for_last(site, LastOpen(count, requests), requests, index, status);
    engine().completion().wait_any(OpenOfShort(count, requests).requests());
    look = FirstLook(count, requests);
  }
  *index = look.index;
  return finish_one(*look.complete, requests[look.index], status, site);
}

int Waitany(CallSite site, int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!index) return host().Waitany(count, requests, index, status);
  if (Handle* const only = only_one(count, requests)) {
    if (only->is_inactive()) return nothing_to_wait_for(index, status);
    return wait_for_last(site, LastOpen(*only), requests, index, status);
  }
  if (is_short(count, requests)) {
    const FirstLook look(count, requests);
    if (look.complete || look.seen.others == 0) return wait_for_any_of_short(site, look, count, requests, index, status);
  }
  RequestArray array(requests);
  if (count > max_looked_at) {
    Handle* const complete =
        array.is_remembered() ? first_if_complete(count, requests, index) : first_unremembered(array, count, requests, index);
    if (complete) return finish_first(*complete, array, *index, status, site);
  }
  if (!array.follow(count)) return host().Waitany(count, requests, index, status);
  if (array.has_only_hosts()) return host_wait_any(count, requests, index, status);
  if (array.hosts() != 0) return wait_for_any_of_both(array, index, status, site);
  if (array.ours() == 0) return nothing_to_wait_for(index, status);
  std::size_t first = array.first_complete();
  if (first == array.size() && array.ours() == 1) {
    first = array.only_one();
    engine().wait_all({&array.handle(first)->active, 1}, site);
  } else if (first == array.size()) {
    engine().completion().wait_any(array.engine_requests());
    first = array.first_complete();
  }
  *index = static_cast<int>(first);
  return finish_one(array, first, status, site);
}

int Waitsome(CallSite site, int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  if (!completed || (count > 0 && !indices)) return host().Waitsome(count, requests, completed, indices, statuses);
  if (Handle* const only = only_one(count, requests)) {
    *completed = MPI_UNDEFINED;
    if (only->is_inactive()) return MPI_SUCCESS;
    if (!only->is_complete()) engine().wait_all({&only->active, 1}, site);
    *completed = 1;
    indices[0] = 0;
    return finish_only(*only, requests[0], statuses, site);
  }
  SomeCompletion some(count, requests, indices, statuses, site);
  if (is_short(count, requests) && some.wait_short()) return some.conclude(completed);
  RequestArray array(requests);
  if (some.collect_unremembered(array)) return some.conclude(completed);
  if (!array.follow(count)) return host().Waitsome(count, requests, completed, indices, statuses);
  if (some.found() == 0 && array.has_only_hosts()) return host_wait_some(count, requests, completed, indices, statuses);
  std::size_t first = array.first_complete();
  if (array.hosts() == 0 && array.ours() == 1 && first == array.size()) {
    some.wait_for_last(array);
    return some.conclude(completed);
  }
  if (array.hosts() == 0 && array.ours() != 0 && first == array.size()) {
    engine().completion().wait_any(array.engine_requests());
    first = array.first_complete();
  }
  if (some.collect(array, first)) return some.conclude(completed);
  Engine::Pause pause(engine());
  do {
    engine().progress();
    pause.step();
  } while (!some.collect(array, array.first_complete()));
  return some.conclude(completed);
}

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Wait)
EXPORT(Waitall)
EXPORT(Waitany)
EXPORT(Waitsome)
