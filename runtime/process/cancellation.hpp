// pthread_cancel and the engine: a thread must not be unwound while it holds what others need.
//
//   deferred      acts in cancellation points, some of which are system calls of Sluice's: cancellation is disabled meanwhile
//   asynchronous  acts in the handler of a signal that the C library keeps for itself: that signal is blocked meanwhile. To
//                 disable cancellation would not do, as some versions of the C library act on it when it is enabled again
//
// A wait in an MPI call looks whether any thread was cancelled since; then it leaves the engine, holding nothing, and lets its
// own cancellation act. A wait for a page ends with the return from the fault handler, and the signal comes on top of the
// instruction that touched it.
//
// Threading: all of it is about the calling thread, but `requests`, which only grows (relaxed: who is cancelled and does not see
// it yet sees it in a later round).
#pragma once

#include <atomic>
#include <cstdint>

namespace sluice::cancellation {

namespace detail {
extern std::atomic<std::uint64_t> requests;
}

/// The calling thread has set its cancellation type.
void note_type(bool asynchronous);

/// Some thread has been cancelled.
inline void note_request() { detail::requests.fetch_add(1, std::memory_order_relaxed); }
inline std::uint64_t requests() { return detail::requests.load(std::memory_order_relaxed); }

/// From `begin` on the calling thread is not cancelled, until `end`. What is held then is given back by unwinding.
class Deferral {
 public:
  Deferral() = default;
  ~Deferral() noexcept(false) { end(); }
  Deferral(const Deferral&) = delete;
  Deferral& operator=(const Deferral&) = delete;

  /// Idempotent, as `end` is.
  void begin();
  void end();
  /// Cancels the calling thread if that is due.
  void let_act();

 private:
  bool begun_ = false;
  bool was_enabled_ = false;
  bool blocked_ = false;
};

/// Lets frames of this library be unwound by the C library: its own copy of the unwinder knows no sizes of registers before its
/// first use.
void prepare_unwinding();

}  // namespace sluice::cancellation
