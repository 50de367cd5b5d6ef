// MPI_Test, MPI_Testall, MPI_Testany, MPI_Testsome. What is complete already is found without
// progressing.
#include "interpose/completion.hpp"

#include "interpose/entry.hpp"
#include "interpose/host_completion.hpp"

namespace sluice::calls {
namespace {

bool complete_after_poll(const Handle& handle) {
  if (handle.is_inactive() || handle.is_complete()) return true;
  engine().progress();
  return handle.is_complete();
}

int Test(CallSite site, MPI_Request* request, int* flag, MPI_Status* status) {
  Handle* handle = request && flag ? find_handle(*request) : nullptr;
  if (!handle) return host_test(request, flag, status);
  *flag = complete_after_poll(*handle) ? 1 : 0;
  return *flag ? finish_one(*handle, *request, status, site.function()) : MPI_SUCCESS;
}

int Testall(CallSite site, int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (Handle* only = flag ? only_one(count, requests) : nullptr) {
    *flag = complete_after_poll(*only) ? 1 : 0;
    return *flag ? finish_only(*only, requests[0], statuses, site.function()) : MPI_SUCCESS;
  }
  RequestArray array(count, requests);
  if (!array.sound() || !flag) return host().Testall(count, requests, flag, statuses);
  if (array.has_only_hosts()) return host_test_all(count, requests, flag, statuses);
  *flag = 0;
  if (!array.all_complete()) {
    engine().progress();
    if (!array.all_complete()) return MPI_SUCCESS;
  }
  HostPart part(array, statuses);
  if (!part.test_all()) return MPI_SUCCESS;
  *flag = 1;
  const Outcome* const outcomes = take_all(array);
  std::size_t ours = 0;
  ArrayCompletion completion(site.function());
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (array.handle(i)) {
      completion.finish(array, i, status_at(statuses, i), outcomes[ours++]);
    } else if (!array.is_host(i)) {
      ArrayCompletion::fill_empty(status_at(statuses, i));
    }
  }
  if (ours != 0) array.forget();
  return completion.conclude(part.code());
}

int Testany(CallSite site, int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (index && flag) {
    if (Handle* handle = first_if_complete(count, requests, index)) {
      *flag = 1;
      return finish_one(*handle, requests[*index], status, site.function());
    }
    if (Handle* only = only_one(count, requests)) {
      *flag = complete_after_poll(*only) ? 1 : 0;
      *index = *flag ? 0 : MPI_UNDEFINED;
      return *flag ? finish_one(*only, requests[0], status, site.function()) : MPI_SUCCESS;
    }
  }
  RequestArray array(count, requests);
  if (!array.sound() || !index || !flag) return host().Testany(count, requests, index, flag, status);
  if (array.has_only_hosts()) return host_test_any(count, requests, index, flag, status);
  *flag = 1;
  std::size_t first = array.first_complete();
  if (first == array.size() && array.ours() != 0) {
    engine().progress();
    first = array.first_complete();
  }
  if (first < array.size()) {
    *index = static_cast<int>(first);
    return finish_one(array, first, status, site.function());
  }
  HostPart part(array, MPI_STATUSES_IGNORE);
  if (array.hosts() != 0 && part.test_any(index, status)) return part.code();
  *index = MPI_UNDEFINED;
  *flag = array.ours() == 0 && (array.hosts() == 0 || part.inactive()) ? 1 : 0;
  if (*flag) fill_status(status, empty_outcome);
  return MPI_SUCCESS;
}

int Testsome(CallSite site, int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  if (Handle* only = completed && indices ? only_one(count, requests) : nullptr) {
    *completed = complete_after_poll(*only) ? 1 : 0;
    if (*completed == 0) return MPI_SUCCESS;
    indices[0] = 0;
    return finish_only(*only, requests[0], statuses, site.function());
  }
  RequestArray array(count, requests);
  if (!array.sound() || !completed || (count > 0 && !indices)) {
    return host().Testsome(count, requests, completed, indices, statuses);
  }
  if (array.has_only_hosts()) return host_test_some(count, requests, completed, indices, statuses);
  if (array.ours() == 0 && array.hosts() == 0) {
    *completed = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  if (array.first_complete() == array.size()) engine().progress();
  SomeCompletion some(array, indices, statuses, site.function());
  some.collect();
  return some.conclude(completed);
}

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Test)
EXPORT(Testall)
EXPORT(Testany)
EXPORT(Testsome)
