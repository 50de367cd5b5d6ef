// Locks, conditions and semaphores on which threads of the program sleep, or are just about to.
//
// A thread that goes to sleep makes the kernel read the lock's word; so does the kernel by itself when a signal has interrupted
// the sleep. When that page is closed, the kernel answers EFAULT, and the C library ends the program. So a sleeper announces the
// lock first, and no page with an announced lock is closed.
//
//   sleeper                                   closer (engine lock held)
//   announce the lock                         closing = 1
//   closing? take it back, wait, try again    some announced lock in the pages? then do not close
//   touch the lock: waits if it is closed     close the pages
//   sleep                                     closing = 0
//
// Both sides write first and read second (sequentially consistent), so one of them sees the other.
//
// Threading: any thread. Announcing allocates nothing.
#pragma once

#include "runtime/base/types.hpp"

namespace sluice::lock_waiters {

class Announcement {
 public:
  explicit Announcement(const void* lock);
  ~Announcement();
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

 private:
  std::size_t slot_;
};

/// From before its check until pages are closed.
class Closing {
 public:
  explicit Closing(ByteRange bytes);
  ~Closing();
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

  /// Nobody sleeps on anything in the pages of the range.
  [[nodiscard]] bool permitted() const { return permitted_; }

 private:
  bool permitted_;
};

}  // namespace sluice::lock_waiters
