// A lock for a few instructions that never call anything.
#pragma once

#include <sched.h>

#include <atomic>

namespace sluice {

class SpinLock {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace sluice
