// MPI_Test, MPI_Testall, MPI_Testany, MPI_Testsome. What is complete already is found without
// progressing.
#include "interpose/mpi/completion.hpp"

#include "interpose/host/host_completion.hpp"
#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/open_requests.hpp"
#include "interpose/mpi/some_completion.hpp"

namespace sluice::calls {
namespace {

/// Of one that is active.
bool complete_after_poll(const Handle& handle) {
  if (handle.is_complete()) return true;
  engine().progress();
  return handle.is_complete();
}

/// Nothing is active.
int test_of_nothing(int* flag, MPI_Status* status) {
  *flag = 1;
  fill_status(status, empty_outcome);
  return MPI_SUCCESS;
}

int Test(CallSite site, MPI_Request* request, int* flag, MPI_Status* status) {
  if (request && flag && *request == predefined().request_null) {
    *flag = 1;
    ArrayCompletion::fill_empty(status);
    return MPI_SUCCESS;
  }
  Handle* handle = request && flag ? find_handle(*request) : nullptr;
  if (!handle) return host_test(request, flag, status);
  if (handle->is_inactive()) return test_of_nothing(flag, status);
  *flag = complete_after_poll(*handle) ? 1 : 0;
  return *flag ? finish_one(*handle, *request, status, site) : MPI_SUCCESS;
}

int test_all_of_both(CallSite site, int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  RequestArray array(requests);
  if (!flag || !array.follow(count)) return host().Testall(count, requests, flag, statuses);
  if (array.has_only_hosts()) return host_test_all(count, requests, flag, statuses);
  *flag = 0;
  if (!array.all_complete()) {
    engine().progress();
    if (!array.all_complete()) return MPI_SUCCESS;
  }
  HostPart part(array, statuses);
  if (!part.test_all()) return MPI_SUCCESS;
  *flag = 1;
  return finish_ours(array, statuses, part.code(), site);
}

int Testall(CallSite site, int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (Handle* only = flag ? only_one(count, requests) : nullptr) {
    if (only->is_inactive()) {
      *flag = 1;
      ArrayCompletion::fill_empty(statuses);
      return MPI_SUCCESS;
    }
    *flag = complete_after_poll(*only) ? 1 : 0;
    return *flag ? finish_only(*only, requests[0], statuses, site) : MPI_SUCCESS;
  }
  if (!flag || !is_array(count, requests)) return test_all_of_both(site, count, requests, flag, statuses);
  if (are_all_null(count, requests)) {
    *flag = 1;
    for (int i = 0; i < count; ++i) ArrayCompletion::fill_empty(status_at(statuses, static_cast<std::size_t>(i)));
    return MPI_SUCCESS;
  }
  OpenRequests open(count, requests);
  auto found = open.look();
  if (found == OpenRequests::Found::open) {
    engine().progress(Engine::Awaits::several);
    found = open.look();
  }
  if (found == OpenRequests::Found::others) return test_all_of_both(site, count, requests, flag, statuses);
  *flag = found == OpenRequests::Found::none ? 1 : 0;
  if (!*flag) return MPI_SUCCESS;
  return open.keeps_handles() ? finish_all(open.handles(), requests, statuses, site)
                              : finish_all(count, requests, statuses, site);
}

FirstLook first_after_poll(int count, const MPI_Request requests[]) {
  const std::uint64_t completions = engine().completion().completions();
  const FirstLook look(count, requests);
  if (look.complete || look.seen.open == 0 || look.seen.others > 1) return look;
  poll_for(look.seen);
  return engine().completion().completions() == completions ? look : FirstLook(count, requests);
}

/// Nothing of Sluice's is complete in a short array, and at most one request is the host's.
int test_any_other(const Seen& seen, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  *index = MPI_UNDEFINED;
  *flag = 0;
  if (seen.others != 0) {
    HostRequest other(requests, seen.other);
    if (other.test_any(index, status)) {
      *flag = 1;
      return other.code();
    }
    if (!other.inactive()) return MPI_SUCCESS;
  }
  if (seen.open != 0) return MPI_SUCCESS;
  return test_of_nothing(flag, status);
}

/// Nothing of Sluice's is complete, and something of it is open.
int test_any_of_hosts(RequestArray& array, int* index, int* flag, MPI_Status* status) {
  *index = MPI_UNDEFINED;
  *flag = 0;
  if (array.hosts() == 0) return MPI_SUCCESS;
  HostPart part(array, MPI_STATUSES_IGNORE);
  if (!part.test_any(index, status)) return MPI_SUCCESS;
  *flag = 1;
  return part.code();
}

/// Nothing is complete that can be found without a poll.
int test_any_remembered(CallSite site, RequestArray& array, int* index, int* flag, MPI_Status* status) {
  std::size_t first = array.first_complete();
  if (first == array.size() && array.ours() != 0) {
    array.poll();
    first = array.first_complete();
  }
  *flag = 1;
  if (first < array.size()) {
    *index = static_cast<int>(first);
    return finish_one(array, first, status, site);
  }
  HostPart part(array, MPI_STATUSES_IGNORE);
  if (array.hosts() != 0 && part.test_any(index, status)) return part.code();
  *index = MPI_UNDEFINED;
  *flag = array.ours() == 0 && (array.hosts() == 0 || part.inactive()) ? 1 : 0;
  if (*flag) fill_status(status, empty_outcome);
  return MPI_SUCCESS;
}

int test_any_of_long(CallSite site, int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  RequestArray array(requests);
  if (array.is_quiet_after_poll(count)) return test_any_of_hosts(array, index, flag, status);
  Handle* const complete =
      array.is_remembered() ? first_if_complete(count, requests, index) : first_unremembered(array, count, requests, index);
  if (complete) {
    *flag = 1;
    return finish_first(*complete, array, *index, status, site);
  }
  if (!array.follow(count)) return host().Testany(count, requests, index, flag, status);
  if (array.has_only_hosts()) return host_test_any(count, requests, index, flag, status);
  return test_any_remembered(site, array, index, flag, status);
}

/// One of Sluice's, and nothing else in the array.
int test_any_only(CallSite site, Handle& only, MPI_Request& slot, int* index, int* flag, MPI_Status* status) {
  *index = MPI_UNDEFINED;
  if (only.is_inactive()) return test_of_nothing(flag, status);
  *flag = complete_after_poll(only) ? 1 : 0;
  if (!*flag) return MPI_SUCCESS;
  *index = 0;
  return finish_one(only, slot, status, site);
}

int Testany(CallSite site, int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!index || !flag) return host().Testany(count, requests, index, flag, status);
  if (Handle* const only = only_one(count, requests)) return test_any_only(site, *only, requests[0], index, flag, status);
  if (are_all_null(count, requests)) {
    *index = MPI_UNDEFINED;
    return test_of_nothing(flag, status);
  }
  if (is_short(count, requests)) {
    if (count == 1) return host_test_any(count, requests, index, flag, status);
    const FirstLook look = first_after_poll(count, requests);
    if (look.complete) {
      *flag = 1;
      *index = look.index;
      return finish_one(*look.complete, requests[look.index], status, site);
    }
    if (look.seen.others <= 1) return test_any_other(look.seen, requests, index, flag, status);
  }
  return test_any_of_long(site, count, requests, index, flag, status);
}

/// One of Sluice's, and nothing else in the array.
int test_some_only(CallSite site, Handle& only, MPI_Request& slot, int* completed, int indices[], MPI_Status statuses[]) {
  *completed = MPI_UNDEFINED;
  if (only.is_inactive()) return MPI_SUCCESS;
  *completed = complete_after_poll(only) ? 1 : 0;
  if (*completed == 0) return MPI_SUCCESS;
  indices[0] = 0;
  return finish_only(only, slot, statuses, site);
}

int Testsome(CallSite site, int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  if (!completed || (count > 0 && !indices)) return host().Testsome(count, requests, completed, indices, statuses);
  if (Handle* const only = only_one(count, requests))
    return test_some_only(site, *only, requests[0], completed, indices, statuses);
  if (are_all_null(count, requests)) {
    *completed = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  if (count == 1 && requests) return host_test_some(count, requests, completed, indices, statuses);
  SomeCompletion some(count, requests, indices, statuses, site);
  if (is_short(count, requests) && some.test_short()) return some.conclude(completed);
  RequestArray array(requests);
  if (array.is_quiet_after_poll(count)) {
    if (array.hosts() != 0) some.collect_hosts(array);
    return some.conclude(completed);
  }
  if (some.collect_unremembered(array)) return some.conclude(completed);
  if (!array.follow(count)) return host().Testsome(count, requests, completed, indices, statuses);
  if (some.found() == 0 && array.has_only_hosts()) return host_test_some(count, requests, completed, indices, statuses);
  std::size_t first = array.first_complete();
  if (first == array.size()) {
    array.poll();
    first = array.first_complete();
  }
  some.collect(array, first);
  return some.conclude(completed);
}

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Test)
EXPORT(Testall)
EXPORT(Testany)
EXPORT(Testsome)
