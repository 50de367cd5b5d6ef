// The request handles that the application holds: genuine generalized requests of the host, so that host code which Sluice does
// not see (the Fortran layers, a tool) can read them. They are pooled, never completed, and each names a Handle.
//
// Operations that are complete when their call returns (small sends, MPI_PROC_NULL) share one handle each: nothing
// distinguishes two completed sends.
//
// Threading: look-up is lock-free; a handle belongs to the thread that completes or starts it, as MPI demands.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "interpose/device/buffers.hpp"
#include "interpose/host/host.hpp"
#include "interpose/mpi/communicators.hpp"
#include "interpose/mpi/handle_table.hpp"
#include "interpose/mpi/status.hpp"
#include "runtime/engine.hpp"
#include "runtime/engine/request.hpp"

namespace sluice {

struct Handle;

/// What an MPI_..._init describes: messages (persistent.cpp), or a collective call (persistent_collective.hpp).
class PersistentOperation {
 public:
  virtual ~PersistentOperation() = default;
  /// The handle is inactive, and active afterwards. MPI's answer.
  virtual int start(Handle& handle, CallSite site) = 0;
  /// It must be complete before the handle is given back.
  [[nodiscard]] virtual bool must_end() const { return false; }
  /// What was with the handle has been delivered.
  virtual void take_back(std::unique_ptr<StagedReceive> /*delivered*/) {}
};

/// Of one that is taken the first line of cache is enough, unless it was complete at once.
struct alignas(cache_line) Handle {
  enum class Kind : unsigned char { unused, once, persistent, instant };

  MPI_Request request{};
  Request* active = nullptr;  // nullptr: complete, `outcome` holds
  Communicator* communicator = nullptr;
  Handle* next_unused = nullptr;
  std::unique_ptr<StagedReceive> staged;  // of an active receive into a device
  std::unique_ptr<PersistentOperation> operation;
  /// Another one whenever it is started, completed or freed. Written by the thread that it belongs to, read by any.
  std::atomic<std::uint32_t> generation{0};
  Kind kind = Kind::unused;
  bool receives = false;
  bool started = false;  // persistent: active
  Outcome outcome;

  /// Nothing but the pools has to be told of its end.
  [[nodiscard]] bool is_simple() const { return kind == Kind::once && !staged; }
  [[nodiscard]] bool is_inactive() const { return kind == Kind::persistent && !started; }
  [[nodiscard]] bool is_complete() const { return !active || active->complete.load(std::memory_order_acquire); }
};

/// Whether several threads may be in calls at once (MPI_THREAD_MULTIPLE). Before the first handle is taken.
void expect_concurrent_calls(bool expected);
[[nodiscard]] bool calls_may_be_concurrent();

/// How often some handle has got another generation. Counted after the handle has it (release, and acquire here).
[[nodiscard]] std::uint64_t handle_changes();
/// A persistent handle becomes active.
void set_started(Handle& handle);

namespace detail {
extern HandleTable<Handle> handles;
/// Never used. Beside it, and beside every handle, lies on both sides another, or one that is never used.
extern Handle* const no_handle;
}  // namespace detail

/// nullptr for requests of the host and for null requests.
inline Handle* find_handle(MPI_Request request) {
  Handle* handle = detail::handles.find(request);
  return handle && handle->kind != Handle::Kind::unused ? handle : nullptr;
}

/// The same, not inline: for loops in which it is rare.
Handle* find_handle_apart(MPI_Request request);

/// Looks up the requests of an array one after the other. Handles that were taken one after the other mostly lie side by side,
/// in order, or in the opposite order where they were given back one by one. So the neighbour of the last one found is tried
/// first, on the side on which the one before had it. It stays in registers.
class HandleSearch {
 public:
  /// As `find_handle`.
  Handle* find(MPI_Request request) {
    Handle* const next = next_;
    if (next->request != request || next->kind == Handle::Kind::unused) [[unlikely]]
      return find_elsewhere(request);
    next_ = beside(next);
    return next;
  }
  /// Whether it is found at once and nothing can be completed of it, which is asked most often: as little as can be of its handle
  /// is looked at then. One that is not in use has no operation, and is none that could be started.
  enum class Passed : unsigned char { none, open, inactive };
  Passed pass(MPI_Request request) {
    Handle* const next = next_;
    if (next->request != request) [[unlikely]]
      return Passed::none;
    const Request* const active = next->active;
    const Passed passed = active ? Passed::open : Passed::inactive;
    if (active ? active->complete.load(std::memory_order_acquire) : !next->is_inactive()) return Passed::none;
    next_ = beside(next);
    return passed;
  }

 private:
  static constexpr auto one = static_cast<std::ptrdiff_t>(sizeof(Handle));

  [[nodiscard]] Handle* beside(Handle* handle) const {
    return reinterpret_cast<Handle*>(reinterpret_cast<std::byte*>(handle) + step_);
  }
  /// Sends that were complete at once all have the same.
  Handle* find_elsewhere(MPI_Request request) {
    Handle* const last = reinterpret_cast<Handle*>(reinterpret_cast<std::byte*>(next_) - step_);
    Handle* const found = last->request == request ? last : find_handle_apart(request);
    if (!found || found->kind == Handle::Kind::unused) return nullptr;
    if (found != last) step_ = found + 1 == last ? -one : one;
    next_ = beside(found);
    return found;
  }

  Handle* next_ = detail::no_handle + 1;
  std::ptrdiff_t step_ = one;  // in bytes, as it is added for each request
};

/// A handle for an operation in progress, or the shared one when it is complete (`send` may then be null).
MPI_Request handle_for_send(Request* send, Communicator& communicator);
MPI_Request handle_for_receive(Request* receive, Communicator& communicator, std::unique_ptr<StagedReceive> staged = nullptr);
MPI_Request handle_for_collective(Request* call, Communicator& communicator, std::unique_ptr<StagedReceive> staged = nullptr);
/// A completed operation with MPI_PROC_NULL.
MPI_Request handle_for_no_process(bool receives);
MPI_Request handle_for_persistent(std::unique_ptr<PersistentOperation> operation, bool receives, Communicator& communicator);

/// The outcome without consequences for the handle; it must be complete.
Outcome peek(const Handle& handle);
/// Takes the outcome of a handle that is complete or released; `slot`, the application's variable, becomes null unless
/// persistent.
Outcome finish(Handle& handle, MPI_Request& slot);
/// The same, and fills the status, where nothing but the pools has to be told and there is no error. False: nothing was done.
bool finish_plain(Handle& handle, MPI_Request& slot, MPI_Status* status);
/// What the status shows. Of a send and of a cancelled receive MPI leaves source and tag open; these are the host's choices.
inline Outcome visible(bool receives, const Outcome& outcome) {
  if (receives && !outcome.cancelled) [[likely]]
    return outcome;
  Outcome shown = receives ? empty_outcome : no_process_outcome;
  shown.failure = outcome.failure;
  shown.cancelled = outcome.cancelled;
  return shown;
}

/// Handles that are finished, and their requests, to be given back together and taken again in this order.
class FinishedHandles {
 public:
  /// It is simple and complete, and its outcome has been looked at.
  void add(Handle& handle) {
    Request* const request = std::exchange(handle.active, nullptr);
    handle.kind = Handle::Kind::unused;
    handle.generation.store(handle.generation.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    RequestPool::retire(*request);
    if (last_) {
      last_->next_unused = &handle;
      RequestPool::next_of(*last_request_) = request;
    } else {
      first_ = &handle;
      first_request_ = request;
    }
    last_ = &handle;
    last_request_ = request;
  }
  void give_back();

 private:
  Handle* first_ = nullptr;
  Handle* last_ = nullptr;
  Request* first_request_ = nullptr;
  Request* last_request_ = nullptr;
};

/// Returns the handle to the pool; what it names goes on in the background.
void discard(Handle& handle, MPI_Request& slot);

}  // namespace sluice
