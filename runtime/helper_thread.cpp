#include "runtime/helper_thread.hpp"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "runtime/base/fatal.hpp"
#include "runtime/trace/call.hpp"

namespace sluice {
namespace {

/// Between two looks at what nobody will be told of (receiver_initiated.hpp).
constexpr std::chrono::microseconds look_interval{50};
/// For the application to come back to a call: 70 µs with the slack of the kernel's timers; 20 were too short, and a yield does
/// not give it the processor whenever it is ready.
constexpr std::chrono::microseconds helper_yield{20};

void pause(Lock& lock, std::chrono::microseconds time) {
  lock.unlock();
  std::this_thread::sleep_for(time);
  lock.lock();
}

}  // namespace

void HelperThread::start() {
  thread_ = std::thread([this] { run(); });
}

void HelperThread::stop() {
  stopping_.store(true, std::memory_order_release);
  parts_.progress.job().transport->wake_helper();
  thread_.join();
}

/// The thread object names a thread that exists in the parent only.
void HelperThread::abandon() {
  if (thread_.joinable()) thread_.detach();
}

void HelperThread::run() {
  pthread_setname_np(pthread_self(), "sluice");
  Transport& transport = *parts_.progress.job().transport;
  while (!stopping_.load(std::memory_order_acquire)) {
    transport.sleep_helper();
    Lock lock(parts_.progress.lock());
    if (stopping_.load(std::memory_order_relaxed)) return;
    wake(lock);
  }
}

void HelperThread::wake(Lock& lock) {
  Progress& progress = parts_.progress;
  Transport& transport = *progress.job().transport;
  ++parts_.statistics.helper_wakeups;
  parts_.releases.helper_wakes();
  const trace::Span traced(trace::Kind::helper);
  transport.attend();
  check_vanished(lock);
  progress.sleepers().wake();  // where the helper thread hears for those that sleep
  work(lock);
  if (progress.inside() == 0) progress.arm(lock);
  parts_.releases.helper_sleeps();
  transport.flush_wakeups();
}

void HelperThread::work(Lock& lock) {
  Progress& progress = parts_.progress;
  const Work& left = progress.work();
  const Job& job = progress.job();
  // Where the application has left a copy undone, it was most often about to come back, and this thread may have taken the
  // processor from it, for ms. So after a first piece it gets that back for a moment, and comes in and takes over, or computes.
  bool gives_back = !job.spare_processor && !job.oversubscribed && !left.has_released();
  // An application thread that comes in takes over. With a processor for both, copies under way are brought to an end all the
  // same; without, the two would take it from each other for whole slices of time, unless the application sleeps, which it may
  // do while this thread has the only copy out of the list.
  while (progress.inside() == 0 ||
         (left.has_copies() && (job.spare_processor || progress.inside() == progress.sleepers().count))) {
    const bool moved = progress.round(lock);
    parts_.releases.advance();
    if (left.has_copies() && std::exchange(gives_back, false)) {
      pause(lock, helper_yield);
    } else if (!moved && !left.has_copies()) {
      if (!left.needs_looks() || stopping_.load(std::memory_order_relaxed)) return;
      pause(lock, look_interval);
    }
  }
}

void HelperThread::check_vanished(Lock& lock) {
  // The launcher knows better with which code the job is to end, and does so within moments; only if it does not, this process
  // ends itself. Meanwhile nobody is kept from ending in a way of its own: the lock is free.
  constexpr unsigned grace_s = 10;
  const Progress& progress = parts_.progress;
  const Transport& transport = *progress.job().transport;
  const Peer gone = transport.vanished();
  const RequestCounts& counts = progress.work().requests().counts();
  const bool concerned = progress.inside() != 0 || counts.pending_sends != 0 || counts.large_receives != 0 ||
                         progress.work().has_released() || progress.work().requests().open_collectives() != 0;
  if (static_cast<int>(gone) < 0 || !concerned || ending_.exchange(true, std::memory_order_relaxed)) return;
  report("peer rank %d vanished (%s) while operations of this process were pending", static_cast<int>(gone), transport.cause());
  lock.unlock();
  ::sleep(grace_s);
  end_process();
}

}  // namespace sluice
