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
  if (!RequestArray::sound(count, requests) || !flag) return host().Testall(count, requests, flag, statuses);
  RequestArray array(count, requests);
  if (array.has_only_hosts()) return host_test_all(count, requests, flag, statuses);
  *flag = 0;
  if (!array.all_complete()) {
    engine().progress();
    if (!array.all_complete()) return MPI_SUCCESS;
  }
  HostPart part(array, statuses);
  if (!part.test_all()) return MPI_SUCCESS;
  *flag = 1;
  ArrayCompletion completion(site.function());
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (Handle* handle = array.handle(i)) {
      completion.finish(*handle, array.slot(i), status_at(statuses, i));
    } else if (!array.is_host(i)) {
      ArrayCompletion::fill_empty(status_at(statuses, i));
    }
  }
  return completion.conclude(part.code());
}

int Testany(CallSite site, int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!RequestArray::sound(count, requests) || !index || !flag) return host().Testany(count, requests, index, flag, status);
  RequestArray array(count, requests);
  if (array.has_only_hosts()) return host_test_any(count, requests, index, flag, status);
  *flag = 1;
  std::size_t first = array.first_complete();
  if (first == array.size() && array.ours() != 0) {
    engine().progress();
    first = array.first_complete();
  }
  if (first < array.size()) {
    *index = static_cast<int>(first);
    return finish_one(*array.handle(first), array.slot(first), status, site.function());
  }
  HostPart part(array, MPI_STATUSES_IGNORE);
  if (array.hosts() != 0 && part.test_any(index, status)) return part.code();
  *index = MPI_UNDEFINED;
  *flag = array.ours() == 0 && (array.hosts() == 0 || part.inactive()) ? 1 : 0;
  if (*flag) fill_status(status, empty_outcome);
  return MPI_SUCCESS;
}

int Testsome(CallSite site, int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  if (!RequestArray::sound(count, requests) || !completed || (count > 0 && !indices)) {
    return host().Testsome(count, requests, completed, indices, statuses);
  }
  RequestArray array(count, requests);
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
