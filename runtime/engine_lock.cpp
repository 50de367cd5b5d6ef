#include "runtime/engine_lock.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr int spins_before_sleep = 200;  // about 2 µs: longer than the usual critical section

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

}  // namespace

constinit thread_local unsigned detail::engine_depth = 0;

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
