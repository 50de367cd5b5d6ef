#include "interpose/host/host_completion.hpp"

#include <array>
#include <span>

#include "interpose/mpi/entry.hpp"

namespace sluice {
namespace {

/// What a host call over an array works on and compares with afterwards.
template <typename T>
class SmallArray {
 public:
  explicit SmallArray(std::size_t size) {
    if (size > in_place) heap_ = std::make_unique_for_overwrite<T[]>(size);
  }
  [[nodiscard]] T* data() { return heap_ ? heap_.get() : local_.data(); }
  T& operator[](std::size_t i) { return data()[i]; }

 private:
  static constexpr std::size_t in_place = 64;
  std::unique_ptr<T[]> heap_;
  static_assert(std::is_trivially_copyable_v<T>);
  union {
    std::array<T, in_place> local_;  // in a union, so that no constructor runs
  };
};

/// Runs a host call over `requests`, and tells the activity count which of them it completed: those that it made null, and
/// persistent ones when `all_done`.
template <typename HostCall>
int tracked(int count, MPI_Request requests[], HostCall host_call) {
  if (!host_activity().outstanding()) return host_call();
  const auto size = static_cast<std::size_t>(count);
  SmallArray<MPI_Request> before(size);
  for (std::size_t i = 0; i < size; ++i) before[i] = requests[i];
  const int code = host_call();
  for (std::size_t i = 0; i < size; ++i) {
    if (before[i] != requests[i]) host_activity().completed(before[i], requests[i]);
  }
  return code;
}

/// A persistent request that is complete stays where it is.
void persistent_completed(MPI_Request request) {
  if (request != predefined().request_null) host_activity().completed(request, request);
}

}  // namespace

int host_wait(MPI_Request* request, MPI_Status* status) {
  const HostCall here;
  if (!request) return host().Wait(request, status);
  const int code = tracked(1, request, [&] { return host().Wait(request, status); });
  persistent_completed(*request);
  return code;
}

int host_test(MPI_Request* request, int* flag, MPI_Status* status) {
  const InHostCall here;
  if (!request || !flag) return host().Test(request, flag, status);
  const MPI_Request before = *request;
  const int code = host().Test(request, flag, status);
  if (*flag || before != *request) host_activity().completed(before, *request);
  return code;
}

int host_wait_all(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const HostCall here;
  const int code = tracked(count, requests, [&] { return host().Waitall(count, requests, statuses); });
  for (int i = 0; i < count; ++i) persistent_completed(requests[i]);
  return code;
}

int host_test_all(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const InHostCall here;
  const int code = tracked(count, requests, [&] { return host().Testall(count, requests, flag, statuses); });
  for (int i = 0; *flag && i < count; ++i) persistent_completed(requests[i]);
  return code;
}

int host_wait_any(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  const HostCall here;
  const int code = tracked(count, requests, [&] { return host().Waitany(count, requests, index, status); });
  if (*index != MPI_UNDEFINED) persistent_completed(requests[*index]);
  return code;
}

int host_test_any(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  const InHostCall here;
  const int code = tracked(count, requests, [&] { return host().Testany(count, requests, index, flag, status); });
  if (*flag && *index != MPI_UNDEFINED) persistent_completed(requests[*index]);
  return code;
}

int host_wait_some(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  const HostCall here;
  const int code = tracked(count, requests, [&] { return host().Waitsome(count, requests, completed, indices, statuses); });
  for (int i = 0; *completed != MPI_UNDEFINED && i < *completed; ++i) persistent_completed(requests[indices[i]]);
  return code;
}

int host_test_some(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  const InHostCall here;
  const int code = tracked(count, requests, [&] { return host().Testsome(count, requests, completed, indices, statuses); });
  for (int i = 0; *completed != MPI_UNDEFINED && i < *completed; ++i) persistent_completed(requests[indices[i]]);
  return code;
}

bool HostRequest::test_any(int* index, MPI_Status* status) {
  int flag = 0;
  int found = MPI_UNDEFINED;
  MPI_Status own{};
  const MPI_Request before = slot_;
  code_ = host().Testany(1, &slot_, &found, &flag, &own);
  inactive_ = flag && found == MPI_UNDEFINED && code_ == MPI_SUCCESS;
  if (found == MPI_UNDEFINED) return code_ != MPI_SUCCESS;
  if (status != MPI_STATUS_IGNORE) {
    own.MPI_ERROR = status->MPI_ERROR;
    *status = own;
  }
  host_activity().completed(before, slot_);
  *index = place_;
  return true;
}

std::size_t HostRequest::test_some(int indices[], MPI_Status statuses[]) {
  int completed = 0;
  const MPI_Request before = slot_;
  code_ = host().Testsome(1, &slot_, &completed, indices, statuses);
  inactive_ = completed == MPI_UNDEFINED;
  if (completed != 1) return 0;
  host_activity().completed(before, slot_);
  indices[0] = place_;
  return 1;
}

HostPart::HostPart(RequestArray& array, MPI_Status* statuses) : array_(array), statuses_(statuses), done_(array.hosts() == 0) {}

bool HostPart::test_all() {
  if (done_) return true;
  const InHostCall here;
  const std::size_t count = array_.hosts();
  SmallArray<MPI_Status> own(statuses_ == MPI_STATUSES_IGNORE ? 0 : count);
  int flag = 0;
  MPI_Status* target = statuses_ == MPI_STATUSES_IGNORE ? MPI_STATUSES_IGNORE : own.data();
  const MPI_Request* const left = array_.host_requests();
  code_ = host().Testall(static_cast<int>(count), array_.host_requests(), &flag, target);
  done_ = flag || code_ != MPI_SUCCESS;
  for (std::size_t i = 0; done_ && i < count; ++i) {
    if (target != MPI_STATUSES_IGNORE) statuses_[array_.host_index(i)] = own[i];
    array_.host_completed(i, left[i]);
  }
  return done_;
}

bool HostPart::test_any(int* index, MPI_Status* status) {
  if (inactive_) return false;
  const InHostCall here;
  int flag = 0;
  int found = MPI_UNDEFINED;
  MPI_Status own{};
  MPI_Request* const list = array_.host_requests();
  code_ = host().Testany(static_cast<int>(array_.hosts()), list, &found, &flag, &own);
  if (code_ != MPI_SUCCESS) array_.forget_hosts();
  inactive_ = flag && found == MPI_UNDEFINED && code_ == MPI_SUCCESS;
  if (found == MPI_UNDEFINED) return code_ != MPI_SUCCESS;
  if (status != MPI_STATUS_IGNORE) {
    own.MPI_ERROR = status->MPI_ERROR;
    *status = own;
  }
  array_.host_completed(static_cast<std::size_t>(found), list[found]);
  *index = static_cast<int>(array_.host_index(static_cast<std::size_t>(found)));
  return true;
}

std::size_t HostPart::test_some(int indices[], MPI_Status statuses[]) {
  if (inactive_ || array_.hosts() == 0) return 0;
  const InHostCall here;
  int completed = 0;
  MPI_Request* const list = array_.host_requests();
  code_ = host().Testsome(static_cast<int>(array_.hosts()), list, &completed, indices, statuses);
  if (code_ != MPI_SUCCESS) array_.forget_hosts();
  inactive_ = completed == MPI_UNDEFINED;
  if (completed == MPI_UNDEFINED || completed < 0) return 0;
  for (int i = 0; i < completed; ++i) {
    const auto own_index = static_cast<std::size_t>(indices[i]);
    array_.host_completed(own_index, list[own_index]);
    indices[i] = static_cast<int>(array_.host_index(own_index));
  }
  return static_cast<std::size_t>(completed);
}

}  // namespace sluice
