#include "interpose/host/host_activity.hpp"

#include <mutex>
#include <set>

#include "interpose/host/host.hpp"
#include "interpose/session/session.hpp"
#include "runtime/host_calls.hpp"

namespace sluice {
namespace {

constinit HostActivity activity;

/// Persistent requests of the host's that are active: rare, they belong to communicators that are not adopted.
struct ActivePersistent {
  std::mutex mutex;
  std::set<MPI_Request> requests;
};

/// Windows of shared memory that are open. Between the host's end of a window and ours another thread may get one with the same
/// handle, so one may be there twice.
struct SharedWindows {
  std::mutex mutex;
  std::multiset<MPI_Win> windows;
};

/// Never below zero: extensions of the host can hand out requests that were not counted.
void decrement(std::atomic<std::size_t>& count) {
  auto value = count.load(std::memory_order_relaxed);
  while (value != 0 && !count.compare_exchange_weak(value, value - 1, std::memory_order_relaxed)) {
  }
}

ActivePersistent& active_persistent() {
  static auto* const active = new ActivePersistent;  // never destroyed: other threads may outlive the exit handlers
  return *active;
}

SharedWindows& shared_windows() {
  static auto* const open = new SharedWindows;  // likewise
  return *open;
}

}  // namespace

HostActivity& host_activity() { return activity; }

int HostActivity::started(int code, const MPI_Request* request) {
  if (code == MPI_SUCCESS && engaged() && *request != predefined().request_null) count_.fetch_add(1, std::memory_order_relaxed);
  return code;
}

int HostActivity::begun(int code) {
  if (code == MPI_SUCCESS && engaged()) count_.fetch_add(1, std::memory_order_relaxed);
  return code;
}

int HostActivity::ended(int code) {
  if (code == MPI_SUCCESS && engaged()) decrement(count_);
  return code;
}

int HostActivity::shared(int code, const MPI_Win* window) {
  if (code != MPI_SUCCESS || !engaged()) return code;
  auto& open = shared_windows();
  const std::scoped_lock guard(open.mutex);
  open.windows.insert(*window);
  shared_windows_.store(open.windows.size(), std::memory_order_relaxed);
  return code;
}

void HostActivity::carried(MPI_Win window) {
  shared(MPI_SUCCESS, &window);
  if (engaged()) decrement(count_);
}

int HostActivity::freed(int code, MPI_Win window) {
  if (code != MPI_SUCCESS || !engaged()) return code;
  auto& open = shared_windows();
  const std::scoped_lock guard(open.mutex);
  const auto found = open.windows.find(window);
  if (found == open.windows.end()) return ended(code);
  open.windows.erase(found);
  shared_windows_.store(open.windows.size(), std::memory_order_relaxed);
  return code;
}

void HostActivity::persistent_started(MPI_Request request) {
  auto& active = active_persistent();
  const std::scoped_lock guard(active.mutex);
  if (active.requests.insert(request).second) count_.fetch_add(1, std::memory_order_relaxed);
}

void HostActivity::completed(MPI_Request before, MPI_Request after) {
  if (!outstanding() || before == predefined().request_null) return;
  if (after == predefined().request_null) {
    decrement(count_);
    return;
  }
  auto& active = active_persistent();
  const std::scoped_lock guard(active.mutex);
  if (active.requests.erase(before) != 0) decrement(count_);
}

void progress_host() {
  const InHostCall here;
  int found = 0;
  host().Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, session().quiet_comm(), &found, MPI_STATUS_IGNORE);
}

}  // namespace sluice
