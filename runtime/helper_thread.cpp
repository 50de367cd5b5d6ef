// The helper thread: progresses while the application computes, and notices peers that die. It sleeps in the kernel otherwise,
// never calls the host MPI and never allocates from the application's heap.

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "runtime/base/fatal.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/release/early_return.hpp"
#include "runtime/trace/call.hpp"

namespace sluice {
namespace {

/// Between two looks at what nobody will be told of (receiver_initiated.hpp).
constexpr std::chrono::microseconds look_interval{50};
/// For the application to come back to a call: 70 µs with the slack of the kernel's timers; 20 were too short, and a yield does
/// not give it the processor whenever it is ready.
constexpr std::chrono::microseconds moment{20};

}  // namespace

void Engine::State::helper() {
  pthread_setname_np(pthread_self(), "sluice");
  while (!stopping.load(std::memory_order_acquire)) {
    job.transport->sleep_helper();
    Lock lock(mutex);
    if (stopping.load(std::memory_order_relaxed)) return;
    ++statistics.helper_wakeups;
    early_return->releases.helper_wakes();
    const trace::Span traced(trace::Kind::helper);
    job.transport->attend();
    check_vanished(lock);
    sleepers.wake();  // where the helper thread hears for those that sleep
    // Where the application has left a copy undone, it was most often about to come back, and this thread may have taken the
    // processor from it, for ms. So after a first piece it gets that back for a moment, and comes in and takes over, or computes.
    bool gives_back = !job.spare_processor && !job.oversubscribed && causality.released().empty();
    // An application thread that comes in takes over. With a processor for both, copies under way are brought to an end all the
    // same; without, the two would take it from each other for whole slices of time, unless the application sleeps, which it may
    // do while this thread has the only copy out of the list.
    while (inside == 0 || (!node_way.list().empty() && (job.spare_processor || inside == sleepers.count))) {
      const bool moved = progress(lock);
      early_return->releases.advance();
      if (!node_way.list().empty() && std::exchange(gives_back, false)) {
        lock.unlock();
        std::this_thread::sleep_for(moment);
        lock.lock();
        continue;
      }
      if (moved || !node_way.list().empty()) continue;
      if (!put_sender.needs_looks() || stopping.load(std::memory_order_relaxed)) break;
      lock.unlock();
      std::this_thread::sleep_for(look_interval);
      lock.lock();
    }
    if (inside == 0) arm(lock);
    early_return->releases.helper_sleeps();
    job.transport->flush_alerts();
  }
}

void Engine::State::check_vanished(Lock& lock) {
  // The launcher knows better with which code the job is to end, and does so within moments; only if it does not, this process
  // ends itself. Meanwhile nobody is kept from ending in a way of its own: the lock is free.
  constexpr unsigned patience_s = 10;
  const Peer gone = job.transport->vanished();
  const bool concerned = inside != 0 || all_requests.counts().pending_sends != 0 || all_requests.counts().large_receives != 0 ||
                         !causality.released().empty();
  if (static_cast<int>(gone) < 0 || !concerned || ending.exchange(true, std::memory_order_relaxed)) return;
  report("peer rank %d vanished (%s) while operations of this process were pending", static_cast<int>(gone),
         job.transport->cause());
  lock.unlock();
  ::sleep(patience_s);
  end_process();
}

void Engine::announce_end() {
  state_->ending.store(true, std::memory_order_relaxed);
  if (this_thread_is_inside() || !state_->job.transport) return;
  const Lock lock(state_->mutex);
  state_->job.transport->say_goodbye();
}

}  // namespace sluice
