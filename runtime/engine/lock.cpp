#include "runtime/engine/lock.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace sluice {
namespace {

constexpr int spins_before_sleep = 200;  // about 2 µs: longer than the usual critical section

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

}  // namespace

constinit thread_local unsigned detail::engine_depth = 0;

bool EngineLock::prepare_process() { return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0; }

void EngineLock::prefer_this_thread() {
  if (prepare_process()) preferred_ = this_thread();
}

void EngineLock::lock_word() {
  std::uint32_t expected = 0;
  if (!word_.compare_exchange_strong(expected, 1, std::memory_order_acquire, std::memory_order_relaxed)) lock_contended();
  settle_favour(nullptr);
}

bool EngineLock::lock_unless(const std::atomic<bool>& stop) {
  enter();
  if (lock_by_favour()) {
    at_rest_.store(false, std::memory_order_relaxed);
    return true;
  }
  waiting_.fetch_add(1, std::memory_order_relaxed);
  bool taken = try_spinning(1);
  while (!taken && !stop.load(std::memory_order_acquire)) {
    sched_yield();
    taken = try_spinning(1);
  }
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  if (taken && settle_favour(&stop)) {
    held_ = Held::by_word;
    at_rest_.store(false, std::memory_order_relaxed);
    return true;
  }
  if (taken) unlock_word();
  detail::leave_engine();
  return false;
}

bool EngineLock::settle_favour(const std::atomic<bool>* stop) {
  if (preferred_ == this_thread()) {
    if (++calm_ < calm_needed_) return true;
    taken_by_favour_ = 0;
    favoured_.store(preferred_, std::memory_order_relaxed);
    return true;
  }
  calm_ = 0;
  const bool takes_it_away = favoured_.load(std::memory_order_relaxed) != nullptr;
  if (takes_it_away) {
    favoured_.store(nullptr, std::memory_order_relaxed);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
  // Also where another thread has taken it away, and did not wait.
  if (favoured_holds_.load(std::memory_order_acquire) && !wait_for_favoured(stop)) return false;
  if (takes_it_away) {
    calm_needed_ = taken_by_favour_ < terms_.of_use ? std::min(2 * calm_needed_, longest_calm) : terms_.undisturbed;
  }
  return true;
}

bool EngineLock::wait_for_favoured(const std::atomic<bool>* stop) {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  bool holds = true;
  for (int spin = 0; holds && !(stop && stop->load(std::memory_order_acquire)); ++spin) {
    if (spin < spins_before_sleep) {
      __builtin_ia32_pause();
    } else {
      sched_yield();
    }
    holds = favoured_holds_.load(std::memory_order_acquire);
  }
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  return !holds;
}

bool EngineLock::try_spinning(std::uint32_t taken) {
  for (int spin = 0; spin < spins_before_sleep; ++spin) {
    std::uint32_t expected = 0;
    if (word_.compare_exchange_weak(expected, taken, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    __builtin_ia32_pause();
  }
  return false;
}

void EngineLock::lock_contended() {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  // A holder that waits for a message gives the lock up for moments only: after each wake-up, spin for the next one.
  if (!try_spinning(1)) {
    while (word_.exchange(2, std::memory_order_acquire) != 0) {
      futex(word_, FUTEX_WAIT, 2);
      if (try_spinning(2)) break;
    }
  }
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

void EngineLock::wake_one() { futex(word_, FUTEX_WAKE, 1); }

}  // namespace sluice
