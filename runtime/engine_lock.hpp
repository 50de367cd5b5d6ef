// The engine lock: one word, uncontended it costs one atomic exchange. Whoever waits in an MPI call keeps it while spinning
// and therefore asks `contended` in every round.
//
// word: 0 free, 1 held, 2 held and somebody sleeps for it. Acquire on lock, release on unlock; sleepers use a private futex.
// The fault handler may take it, because its holder never touches application memory that can be under guard.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/held_signals.hpp"
#include "runtime/page_guard.hpp"

namespace sluice {

namespace detail {
/// How deep the calling thread is in the engine. A signal handler of the application that interrupted it there must not wait for
/// anything.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local unsigned engine_depth;

inline void leave_engine() {
  if (--engine_depth == 0) held_signals::let_go();
}
}  // namespace detail

class EngineLock {
 public:
  void lock() {
    if (++detail::engine_depth == 1 && PageGuard::active() != 0) [[unlikely]]
      held_signals::hold();
    std::uint32_t expected = 0;
    if (!word_.compare_exchange_strong(expected, 1, std::memory_order_acquire, std::memory_order_relaxed)) lock_contended();
    held_ = true;
  }

  void unlock() {
    held_ = false;
    if (word_.exchange(0, std::memory_order_release) == 2) wake_one();
    detail::leave_engine();
  }

  /// Gives the lock up for long enough that a thread that spins for it gets it.
  void give_way() {
    unlock();
    for (int pause = 0; pause < 8; ++pause) __builtin_ia32_pause();
    lock();
  }

  /// For code that may have interrupted the holder, such as a signal handler that writes: it must not wait for the lock.
  [[nodiscard]] static bool held_by_this_thread() { return held_; }

  /// Somebody else wants the lock. A hint.
  [[nodiscard]] bool contended() const { return waiting_.load(std::memory_order_relaxed) != 0; }

 private:
  void lock_contended();
  bool try_spinning(std::uint32_t taken);
  void wake_one();

  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint32_t> waiting_{0};
  // In the static TLS block, since signal handlers read it.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local bool held_ = false;
};

}  // namespace sluice
