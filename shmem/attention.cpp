#include "shmem/attention.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <ctime>

namespace sluice {

static_assert(sizeof(std::atomic<Attention>) == sizeof(std::uint32_t), "a futex is four bytes");

void alert(std::atomic<Attention>& attention, News news, int helper_bell) {
  if (!asks_for(attention.load(std::memory_order_seq_cst), news)) return;
  const Attention taken = attention.exchange(Attention::none, std::memory_order_seq_cst);
  // Whatever it asks for by now: nobody else will wake its owner.
  if (taken == Attention::sleeper) wake_sleepers(attention);
  if (taken != Attention::sleeper && taken != Attention::none) ring_bell(helper_bell);
}

void sleep_on(std::atomic<Attention>& attention, std::chrono::microseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec timeout{seconds.count(), std::chrono::nanoseconds(limit - seconds).count()};
  ::syscall(SYS_futex, &attention, FUTEX_WAIT, static_cast<std::uint32_t>(Attention::sleeper), &timeout, nullptr, 0);
}

void wake_sleepers(std::atomic<Attention>& attention) {
  ::syscall(SYS_futex, &attention, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void ring_bell(int helper_bell) {
  const std::uint64_t one = 1;
  // The counter can only be full when the helper has been rung for already.
  // Not write(): that is one of the calls that Sluice itself intercepts.
  ::syscall(SYS_write, helper_bell, &one, sizeof one);
}

}  // namespace sluice
