#include "interpose/host/host_activity.hpp"

#include <mutex>
#include <set>

#include "interpose/host/host.hpp"
#include "interpose/mpi/handle_table.hpp"
#include "interpose/session/session.hpp"
#include "runtime/host_calls.hpp"

namespace sluice {
namespace {

constinit HostActivity activity;
/// Persistent requests of the host's that are active. No two threads start or complete one at a time.
constinit HandleTable<HostActivity> active_persistent;

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

SharedWindows& shared_windows() {
  static auto* const open = new SharedWindows;  // never destroyed: other threads may outlive the exit handlers
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
  if (active_persistent.find(request)) return;
  active_persistent.insert(request, this);
  count_.fetch_add(1, std::memory_order_relaxed);
}

void HostActivity::completed(MPI_Request before, MPI_Request after) {
  if (!outstanding() || before == predefined().request_null) return;
  if (after == predefined().request_null) {
    decrement(count_);
    return;
  }
  if (!active_persistent.find(before)) return;
  active_persistent.erase(before);
  decrement(count_);
}

void progress_host() {
  const InHostCall here;
  int found = 0;
  host().Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, session().quiet_comm(), &found, MPI_STATUS_IGNORE);
}

}  // namespace sluice
