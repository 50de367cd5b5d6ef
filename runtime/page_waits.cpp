#include "runtime/page_waits.hpp"

#include <sched.h>

#include <chrono>

namespace sluice {
namespace {

using std::chrono::microseconds;

/// How often a thread that touched a missing page tells peers that it waits, in rounds.
constexpr unsigned telling_rounds = 64;
/// Rounds before it sleeps, and for how long when its data is on the way or not.
constexpr unsigned fault_rounds = 20'000;
constexpr microseconds fault_sleep_moving{50};
constexpr microseconds fault_sleep_unknown{10'000};

}  // namespace

void PageWaits::wait_a_little(unsigned attempt) {
  if (!progress_.lock().lock_unless(forking_)) {
    sched_yield();
    return;  // nothing is closed any more: the caller sees that
  }
  Lock lock(progress_.lock(), std::adopt_lock);
  ++threads_;
  wait(lock, attempt);
  --threads_;
}

void PageWaits::wait(Lock& lock, unsigned attempt) {
  const Progress::StaysInHostCall stays(progress_);
  const Inside here(progress_, lock);
  const bool moved = progress_.round(lock);
  releases_.advance();
  const Job& job = progress_.job();
  if (attempt % telling_rounds == telling_rounds - 1 && job.transport) job.transport->tell_of_waiting();
  if (!moved && attempt >= fault_rounds) {
    progress_.sleep(lock, memory_.data_is_moving() ? fault_sleep_moving : fault_sleep_unknown);
  } else if (!moved && job.oversubscribed) {
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  stays.before_leaving();
}

}  // namespace sluice
