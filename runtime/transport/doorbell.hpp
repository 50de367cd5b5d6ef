// Who sleeps, and what wakes whom: this process's threads, and what peers are told.
//
// Threading: every function is called with the engine lock held, unless it is marked otherwise.
#pragma once

#include <chrono>

#include "runtime/base/types.hpp"
#include "runtime/transport/wake_mask.hpp"

namespace sluice {

class Doorbell {
 public:
  /// A thread of the peer sleeps in a call. Sequentially consistent, as is `tell_of_waiting`'s look: of one that raises its
  /// a wake mask with `waiting` and then asks this, and one that goes to sleep and then tells, one sees the other.
  [[nodiscard]] virtual bool is_asleep(Peer /*peer*/) const { return false; }

  /// This process has nothing to do but wait. Peers whose wake mask asks for `waiting` are told.
  virtual void tell_of_waiting() {}
  /// Peers that were not told at once of what was sent to them are told now. For whoever goes to sleep.
  virtual void flush_wakeups() = 0;
  /// ... or in time, by the helper thread. For an application thread that stops polling, most often for a moment.
  virtual void leave_wakeups() { flush_wakeups(); }

  /// Sets what arriving messages do while nobody polls. After raising it the caller must look at `pending` once more.
  virtual void set_wake_mask(WakeMask level) = 0;  // [any thread], sequentially consistent
  /// [any thread, lock not held] Sleeps until the wake mask, set to `sleeper` before, is taken by an arriving message or `poke`.
  virtual void sleep(std::chrono::microseconds limit) = 0;
  /// [any thread] Ends a `sleep` of this process.
  virtual void poke() = 0;
  /// No thread is in or on its way to `sleep`: pokes that came before concern nobody any more.
  virtual void forget_pokes() {}

  /// [helper thread, lock not held] Sleeps until a wake mask that is not of a sleeper was taken, a peer vanished,
  /// or `wake_helper` was called.
  virtual void sleep_helper() = 0;
  virtual void wake_helper() = 0;  // [any thread]
  /// The helper thread has been woken: whatever only it looks after (new connections, supervision of old ones).
  virtual void attend() {}

 protected:
  ~Doorbell() = default;
};

}  // namespace sluice
