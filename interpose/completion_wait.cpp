// MPI_Wait, MPI_Waitall, MPI_Waitany, MPI_Waitsome.
//
// Requests of one side only wait in that side's own call. A mixture is polled on both sides; receives in a mixture are not
// released, since the host has something outstanding.
#include "interpose/completion.hpp"
#include "interpose/entry.hpp"
#include "interpose/host_completion.hpp"

namespace sluice::calls {
namespace {

int Wait(CallSite site, MPI_Request* request, MPI_Status* status) {
  Handle* handle = request ? find_handle(*request) : nullptr;
  if (!handle) return host_wait(request, status);
  if (!handle->is_inactive() && !handle->is_complete()) engine().wait_all({&handle->active, 1}, site);
  return finish_one(*handle, *request, status, site.function());
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

int Waitall(CallSite site, int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (Handle* only = only_one(count, requests)) {
    if (!only->is_complete()) engine().wait_all({&only->active, 1}, site);
    return finish_only(*only, requests[0], statuses, site.function());
  }
  RequestArray array(count, requests);
  if (!array.sound()) return host().Waitall(count, requests, statuses);
  if (array.has_only_hosts()) return host_wait_all(count, requests, statuses);
  int host_code = MPI_SUCCESS;
  if (array.hosts() != 0) {
    host_code = wait_for_both(array, statuses);
  } else if (!array.all_complete()) {
    engine().wait_all(array.engine_requests(), site);
  }
  const Outcome* const outcomes = take_all(array);
  ArrayCompletion completion(site.function());
  std::size_t ours = 0;
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (array.handle(i)) {
      completion.finish(array, i, status_at(statuses, i), outcomes[ours++]);
    } else if (!array.is_host(i)) {
      ArrayCompletion::fill_empty(status_at(statuses, i));
    }
  }
  array.forget();
  return completion.conclude(host_code);
}

int nothing_to_wait_for(int* index, MPI_Status* status) {
  *index = MPI_UNDEFINED;
  fill_status(status, empty_outcome);
  return MPI_SUCCESS;
}

int wait_for_any_of_both(RequestArray& array, int* index, MPI_Status* status, const char* function) {
  HostPart part(array, MPI_STATUSES_IGNORE);
  Engine::Pause pause(engine());
  for (;;) {
    engine().progress();
    const std::size_t first = array.first_complete();
    if (first < array.size()) {
      *index = static_cast<int>(first);
      return finish_one(array, first, status, function);
    }
    if (part.test_any(index, status)) return part.code();
    if (part.inactive() && array.ours() == 0) return nothing_to_wait_for(index, status);
    pause.step();
  }
}

int Waitany(CallSite site, int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (Handle* handle = index ? first_if_complete(count, requests, index) : nullptr) {
    return finish_one(*handle, requests[*index], status, site.function());
  }
  RequestArray array(count, requests);
  if (!array.sound() || !index) return host().Waitany(count, requests, index, status);
  if (array.has_only_hosts()) return host_wait_any(count, requests, index, status);
  if (array.hosts() != 0) return wait_for_any_of_both(array, index, status, site.function());
  if (array.ours() == 0) return nothing_to_wait_for(index, status);
  std::size_t first = array.first_complete();
  if (first == array.size()) {
    engine().wait_any(array.engine_requests());
    first = array.first_complete();
  }
  *index = static_cast<int>(first);
  return finish_one(array, first, status, site.function());
}

int Waitsome(CallSite site, int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  if (Handle* only = completed && indices ? only_one(count, requests) : nullptr) {
    if (!only->is_complete()) engine().wait_any({&only->active, 1});
    *completed = 1;
    indices[0] = 0;
    return finish_only(*only, requests[0], statuses, site.function());
  }
  RequestArray array(count, requests);
  if (!array.sound() || !completed || (count > 0 && !indices)) {
    return host().Waitsome(count, requests, completed, indices, statuses);
  }
  if (array.has_only_hosts()) return host_wait_some(count, requests, completed, indices, statuses);
  if (array.ours() == 0 && array.hosts() == 0) {
    *completed = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  SomeCompletion some(array, indices, statuses, site.function());
  if (array.hosts() == 0 && array.first_complete() == array.size()) engine().wait_any(array.engine_requests());
  Engine::Pause pause(engine());
  while (!some.collect() && !some.exhausted()) {
    engine().progress();
    pause.step();
  }
  return some.conclude(completed);
}

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Wait)
EXPORT(Waitall)
EXPORT(Waitany)
EXPORT(Waitsome)
