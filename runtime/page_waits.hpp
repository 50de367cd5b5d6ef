// Threads that touched a page which is closed, and wait for its data: in the fault handler, or in the guard's own threads. They
// progress like a call that waits, but never call the host.
//
// Around a fork nobody may wait for the engine lock, which is held until it is over: a thread that waits for a page may hold a
// lock that fork takes next, as that of the arena in whose memory malloc has touched the page.
//
// Words: `forking` is written by the thread that forks, with the engine lock held (release), and read by threads that would wait
// for the lock (acquire): nothing is closed while it is set, and they see that.
#pragma once

#include <atomic>
#include <cstddef>

#include "runtime/guard/page_guard.hpp"
#include "runtime/progress.hpp"
#include "runtime/release/released_memory.hpp"
#include "runtime/release/releases.hpp"

namespace sluice {

class PageWaits final : public FaultWaiter {
 public:
  PageWaits(Progress& progress, Releases& releases, const ReleasedMemory& memory)
      : progress_(progress), releases_(releases), memory_(memory) {}

  /// One round of the engine's work, and a sleep once many have been in vain. [lock not held]
  void wait_a_little(unsigned attempt) override;

  /// [lock held] Some thread is in `wait_a_little`, and needs the lock once more to leave it.
  [[nodiscard]] bool any() const { return threads_ != 0; }
  /// [lock held] Nothing is closed, and nobody waits here. From now on nobody waits for the lock.
  void begin_fork() { forking_.store(true, std::memory_order_release); }
  void end_fork() { forking_.store(false, std::memory_order_release); }

 private:
  void wait(Lock& lock, unsigned attempt);

  Progress& progress_;
  Releases& releases_;
  const ReleasedMemory& memory_;
  std::size_t threads_ = 0;
  std::atomic<bool> forking_{false};
};

}  // namespace sluice
