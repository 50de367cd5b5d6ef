// The helper thread: progresses while the application computes, and notices peers that die. It sleeps in the kernel otherwise,
// never calls the host MPI and never allocates from the application's heap.
//
// Words: `stopping` is written by whoever ends the thread (release), and read by the thread (acquire), which looks again under
// the engine lock. `ending` is set once, by whoever ends the job or reports a vanished peer first: one relaxed exchange decides,
// and nothing else hangs on it.
#pragma once

#include <atomic>
#include <thread>

#include "runtime/engine/statistics.hpp"
#include "runtime/progress.hpp"
#include "runtime/release/releases.hpp"

namespace sluice {

class HelperThread {
 public:
  struct Parts {
    Progress& progress;
    Releases& releases;
    EngineStatistics& statistics;
  };
  /// There is none yet.
  explicit HelperThread(const Parts& parts) : parts_(parts) {}
  HelperThread(const HelperThread&) = delete;
  HelperThread& operator=(const HelperThread&) = delete;

  /// Where there is a transport. The calling thread's signal mask becomes that of the thread.
  void start();
  /// Waits for its end. The lock is not held.
  void stop();
  [[nodiscard]] bool runs() const { return thread_.joinable(); }
  /// In a child of fork, which has no such thread.
  void abandon();

  /// This process ends the job, or has ended its part of it: peers that vanish are no news.
  void let_peers_vanish() { ending_.store(true, std::memory_order_relaxed); }

 private:
  void run();
  void wake(Lock& lock);
  void work(Lock& lock);
  void check_vanished(Lock& lock);

  const Parts parts_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace sluice
