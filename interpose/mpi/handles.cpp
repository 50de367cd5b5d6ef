#include "interpose/mpi/handles.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/spin_lock.hpp"

namespace sluice {
namespace detail {

constinit HandleTable<Handle> handles;
Handle* const no_handle = new Handle[3] + 1;

}  // namespace detail

namespace {

constinit bool calls_are_concurrent = true;
constinit SpinLock unused_lock;
constinit std::atomic<std::uint64_t> changes{0};
constinit Handle* unused = nullptr;  // belongs to unused_lock; or to whoever is in a call, as only one is

/// An uncontended lock is two atomic operations, of the dozen that a small message takes.
template <typename Function>
auto with_unused(Function function) {
  if (!calls_are_concurrent) [[likely]]
    return function();
  const std::scoped_lock guard(unused_lock);
  return function();
}

void count_change() {
  if (calls_are_concurrent) {
    changes.fetch_add(1, std::memory_order_release);
  } else {
    changes.store(changes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
}

void note_change(Handle& handle) {
  handle.generation.store(handle.generation.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  count_change();
}

/// The host asks for nothing of this as long as the request is never completed.
int ignore_query(void*, MPI_Status*) { return MPI_SUCCESS; }
int ignore_free(void*) { return MPI_SUCCESS; }
int ignore_cancel(void*, int) { return MPI_SUCCESS; }

/// Some handles side by side, the first of them chained to the others; twice as many each time. One on either side is never used
/// (HandleSearch). They are there for good, as the host's requests are.
Handle* make_handles() {
  constexpr std::size_t first_made = 31;
  static std::atomic<std::size_t> made_so_far{0};
  const std::size_t count = std::max(made_so_far.load(std::memory_order_relaxed), first_made);
  made_so_far.fetch_add(count, std::memory_order_relaxed);
  auto* const made = new Handle[count + 2] + 1;
  for (std::size_t i = 0; i < count; ++i) {
    Handle& handle = made[i];
    if (host().Grequest_start(ignore_query, ignore_free, ignore_cancel, nullptr, &handle.request) != MPI_SUCCESS) std::abort();
    detail::handles.insert(handle.request, &handle);
    handle.next_unused = i + 1 < count ? &made[i + 1] : nullptr;
  }
  return made;
}

/// Chained to each other, from `first` to `last`.
void put_back(Handle* first, Handle* last) {
  with_unused([=] {
    last->next_unused = unused;
    unused = first;
  });
}

Handle* find_unused() {
  return with_unused([] {
    Handle* const handle = unused;
    if (handle) unused = handle->next_unused;
    return handle;
  });
}

Handle& take_handle(Handle::Kind kind, bool receives, Communicator* communicator) {
  Handle* handle = find_unused();
  if (!handle) {
    handle = make_handles();
    Handle* last = handle->next_unused;
    while (last->next_unused) last = last->next_unused;
    put_back(handle->next_unused, last);
  }
  handle->kind = kind;
  handle->receives = receives;
  handle->communicator = communicator;
  return *handle;
}

void give_back(Handle& handle) {
  note_change(handle);
  handle.kind = Handle::Kind::unused;
  handle.started = false;
  handle.active = nullptr;
  handle.operation.reset();
  handle.staged.reset();
  put_back(&handle, &handle);
}

Handle& make_instant(bool receives, const Outcome& outcome) {
  Handle& handle = take_handle(Handle::Kind::instant, receives, nullptr);
  handle.outcome = outcome;
  return handle;
}

Handle& completed_send() {
  static Handle& handle = make_instant(false, no_process_outcome);
  return handle;
}

Handle& completed_no_process_receive() {
  static Handle& handle = make_instant(true, no_process_outcome);
  return handle;
}

/// No later call would bring the message to the device, or what it works on would be gone.
[[nodiscard]] bool must_end(const Handle& handle) {
  return handle.active && (handle.staged || (handle.operation && handle.operation->must_end()));
}

void finish_unseen(Handle& handle) {
  engine().wait_all({&handle.active, 1}, {});
  const Outcome outcome = engine().take(handle.active);
  if (handle.staged) handle.staged->deliver(outcome);
  handle.active = nullptr;
}

}  // namespace

void expect_concurrent_calls(bool expected) { calls_are_concurrent = expected; }

Handle* find_handle_apart(MPI_Request request) { return find_handle(request); }

bool calls_may_be_concurrent() { return calls_are_concurrent; }

std::uint64_t handle_changes() { return changes.load(std::memory_order_acquire); }

void set_started(Handle& handle) {
  handle.started = true;
  note_change(handle);
}

MPI_Request handle_for_send(Request* send, Communicator& communicator) {
  if (!send) return completed_send().request;
  if (Engine::is_complete(*send)) {
    engine().take(send);
    return completed_send().request;
  }
  Handle& handle = take_handle(Handle::Kind::once, false, &communicator);
  handle.active = send;
  return handle.request;
}

MPI_Request handle_for_receive(Request* receive, Communicator& communicator, std::unique_ptr<StagedReceive> staged) {
  Handle& handle = take_handle(Handle::Kind::once, true, &communicator);
  handle.active = receive;
  handle.staged = std::move(staged);
  return handle.request;
}

MPI_Request handle_for_collective(Request* call, Communicator& communicator, std::unique_ptr<StagedReceive> staged) {
  Handle& handle = take_handle(Handle::Kind::once, false, &communicator);
  handle.active = call;
  handle.staged = std::move(staged);
  return handle.request;
}

MPI_Request handle_for_no_process(bool receives) {
  return (receives ? completed_no_process_receive() : completed_send()).request;
}

MPI_Request handle_for_persistent(std::unique_ptr<PersistentOperation> operation, bool receives, Communicator& communicator) {
  Handle& handle = take_handle(Handle::Kind::persistent, receives, &communicator);
  handle.operation = std::move(operation);
  return handle.request;
}

Outcome peek(const Handle& handle) {
  if (handle.is_inactive()) return empty_outcome;
  const Outcome outcome = handle.active ? Engine::Completion::peek(*handle.active) : handle.outcome;
  if (handle.staged) handle.staged->deliver(outcome);
  return visible(handle.receives, outcome);
}

namespace {

/// Of a persistent one, of one that was complete at once or is released, and of receives into a device.
Outcome finish_special(Handle& handle, MPI_Request& slot) {
  const bool is_persistent = handle.kind == Handle::Kind::persistent;
  if (!is_persistent) slot = predefined().request_null;
  if (handle.kind == Handle::Kind::unused || handle.is_inactive()) return empty_outcome;
  const Outcome taken = handle.active ? engine().take(handle.active) : handle.outcome;
  if (handle.staged) {
    handle.staged->deliver(taken);
    if (is_persistent) handle.operation->take_back(std::move(handle.staged));
    handle.staged.reset();
  }
  if (is_persistent) {
    handle.active = nullptr;
    handle.started = false;
    note_change(handle);
  } else if (handle.kind == Handle::Kind::once) {
    give_back(handle);
  }
  return visible(handle.receives, taken);
}

}  // namespace

Outcome finish(Handle& handle, MPI_Request& slot) {
  if (!handle.is_simple() || !handle.is_complete()) [[unlikely]]
    return finish_special(handle, slot);
  const Outcome outcome = visible(handle.receives, outcome_of(*handle.active));
  FinishedHandles finished;
  finished.add(handle);
  finished.give_back();
  slot = predefined().request_null;
  return outcome;
}

bool finish_plain(Handle& handle, MPI_Request& slot, MPI_Status* status) {
  if (handle.kind == Handle::Kind::instant) {
    slot = predefined().request_null;
    fill_status(status, visible(handle.receives, handle.outcome));
    return true;
  }
  if (!handle.is_simple() || !handle.is_complete() || !fill_plain(status, *handle.active)) [[unlikely]]
    return false;
  FinishedHandles finished;
  finished.add(handle);
  finished.give_back();
  slot = predefined().request_null;
  return true;
}

void FinishedHandles::give_back() {
  if (!last_) return;
  engine().completion().give_back(first_request_, last_request_);
  put_back(first_, std::exchange(last_, nullptr));
  count_change();
}

void discard(Handle& handle, MPI_Request& slot) {
  if (must_end(handle)) finish_unseen(handle);
  if (handle.active) engine().completion().detach(handle.active);
  if (handle.kind != Handle::Kind::instant) give_back(handle);
  slot = predefined().request_null;
}

}  // namespace sluice
