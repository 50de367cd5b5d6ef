// The request handles that the application holds: genuine generalized requests of the host, so that host code which Sluice does
// not see (the Fortran layers, a tool) can read them. They are pooled, never completed, and each names a Handle.
//
// Operations that are complete when their call returns (small sends, MPI_PROC_NULL) share one handle each: nothing
// distinguishes two completed sends.
//
// Threading: look-up is lock-free; a handle belongs to the thread that completes or starts it, as MPI demands.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "interpose/communicators.hpp"
#include "interpose/device_buffers.hpp"
#include "interpose/handle_table.hpp"
#include "interpose/status.hpp"
#include "runtime/engine.hpp"

namespace sluice {

/// What MPI_Send_init and its kin describe.
struct PersistentOperation {
  bool receives = false;
  bool no_process = false;  // MPI_PROC_NULL
  SendMode mode{};
  Rank rank{};
  Tag tag{};
  UserBuffer buffer;
  ByteRange span;
  bool on_device = false;
};

struct Handle {
  enum class Kind : unsigned char { unused, once, persistent, instant };

  MPI_Request request{};
  Kind kind = Kind::unused;
  bool receives = false;
  bool started = false;       // persistent: active
  Request* active = nullptr;  // nullptr: complete, `outcome` holds
  Outcome outcome;
  Communicator* communicator = nullptr;
  std::unique_ptr<PersistentOperation> operation;
  std::unique_ptr<StagedReceive> staged;  // of an active receive into a device
  Handle* next_unused = nullptr;
  /// Another one whenever it is started, completed or freed. Written by the thread that it belongs to, read by any.
  std::atomic<std::uint32_t> generation{0};

  [[nodiscard]] bool is_inactive() const { return kind == Kind::persistent && !started; }
  [[nodiscard]] bool is_complete() const { return !active || Engine::is_complete(*active); }
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
}

/// nullptr for requests of the host and for null requests.
inline Handle* find_handle(MPI_Request request) {
  Handle* handle = detail::handles.find(request);
  return handle && handle->kind != Handle::Kind::unused ? handle : nullptr;
}

/// A handle for an operation in progress, or the shared one when it is complete (`send` may then be null).
MPI_Request handle_for_send(Request* send, Communicator& communicator);
MPI_Request handle_for_receive(Request* receive, Communicator& communicator, std::unique_ptr<StagedReceive> staged = nullptr);
/// A completed operation with MPI_PROC_NULL.
MPI_Request handle_for_no_process(bool receives);
MPI_Request handle_for_persistent(std::unique_ptr<PersistentOperation> operation, Communicator& communicator);

/// The outcome without consequences for the handle; it must be complete.
Outcome peek(const Handle& handle);
/// Takes the outcome of a handle that is complete or released; `slot`, the application's variable, becomes null unless
/// persistent.
Outcome finish(Handle& handle, MPI_Request& slot);
/// The same when the engine has given up what it names, with this outcome.
Outcome finish(Handle& handle, MPI_Request& slot, const Outcome& taken);
/// Returns the handle to the pool; what it names goes on in the background.
void discard(Handle& handle, MPI_Request& slot);

}  // namespace sluice
