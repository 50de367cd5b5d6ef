#include "shmem/wake_word.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <ctime>

namespace sluice {

static_assert(sizeof(std::atomic<WakeMask>) == sizeof(std::uint32_t), "a futex is four bytes");

void wake_owner(std::atomic<WakeMask>& wake_mask, EventMask events, int helper_bell) {
  if (!asks_for(wake_mask.load(std::memory_order_seq_cst), events)) return;
  const WakeMask taken = wake_mask.exchange(WakeMask::none, std::memory_order_seq_cst);
  // Whatever it asks for by now: nobody else will wake its owner.
  if (taken == WakeMask::sleeper) wake_sleepers(wake_mask);
  if (taken != WakeMask::sleeper && taken != WakeMask::none) ring_bell(helper_bell);
}

void sleep_on(std::atomic<WakeMask>& wake_mask, std::chrono::microseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec timeout{seconds.count(), std::chrono::nanoseconds(limit - seconds).count()};
  ::syscall(SYS_futex, &wake_mask, FUTEX_WAIT, static_cast<std::uint32_t>(WakeMask::sleeper), &timeout, nullptr, 0);
}

void wake_sleepers(std::atomic<WakeMask>& wake_mask) {
  ::syscall(SYS_futex, &wake_mask, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void ring_bell(int helper_bell) {
  const std::uint64_t one = 1;
  // The counter can only be full when the helper has been rung for already.
  // Not write(): that is one of the calls that Sluice itself intercepts.
  ::syscall(SYS_write, helper_bell, &one, sizeof one);
}

}  // namespace sluice
