// The engine lock. Uncontended it costs one atomic exchange to take and one to give back, and nearly nothing the thread that
// takes it most. Whoever waits in an MPI call keeps it while spinning and therefore asks `contended` in every round.
//
// word: 0 free, 1 held, 2 held and somebody sleeps for it. Acquire on lock, release on unlock; sleepers use a private futex.
// The fault handler may take it, because its holder never touches application memory that can be under guard.
//
// Favour (biased locking). An atomic exchange waits for all earlier stores of its processor, and those into a ring have to wait
// for lines that a peer has read last: two for each small message were a third of its time. One thread can be preferred; when it
// has taken the lock often enough with no other in between, it gets the favour, and then takes the lock with plain stores:
//
//     favoured thread                                 another thread, which has `word`
//     favoured_holds = true   (relaxed)               favoured = nobody
//     favoured? no: favoured_holds = false, and       membarrier: a fence in every running thread of this process
//               take `word` like everybody            wait until favoured_holds is false  (acquire), whoever took it away
//     ... unlock: favoured_holds = false  (release)
//
// The fence falls either before the favoured thread looks, which then sees that it has the favour no longer, or behind its store,
// which the other thread then sees. `favoured` is given under `word` only, by the thread that gets it. To take it away costs a
// system call (0.2 to 9 µs): who loses it early has to be undisturbed twice as long before it is favoured again.
//
// Rest. What the lock protects changes only under it. So a holder that leaves nothing to do says so (`leave_at_rest`), and as
// long as nobody has taken the lock since, that holds, and whoever wants to know need not take the lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/types.hpp"
#include "runtime/guard/held_signals.hpp"
#include "runtime/guard/page_guard.hpp"

namespace sluice {

namespace detail {
/// How deep the calling thread is in the engine. A signal handler of the application that interrupted it there must not wait for
/// anything.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local unsigned engine_depth;

inline void leave_engine() {
  if (--engine_depth == 0) held_signals::let_go();
}
}  // namespace detail

/// When a thread is favoured, in times that the lock was taken.
struct FavourTerms {
  std::uint64_t undisturbed = 1024;  // by the preferred thread, in a row
  std::uint64_t of_use = 8192;       // by favour, before another thread came: then it was worth it
};

class EngineLock {
 public:
  explicit EngineLock(FavourTerms terms = {}) : terms_(terms) {}

  /// What `prefer_this_thread` needs of the kernel, which with more than one thread waits for all processors first (6 ms): early
  /// is better. False: it has no expedited membarrier.
  static bool prepare_process();

  /// The calling thread is the one that takes the lock most. Before another thread knows the lock; where the kernel has no
  /// expedited membarrier nobody is favoured.
  void prefer_this_thread();

  void lock() {
    enter();
    if (!lock_by_favour()) {
      lock_word();
      held_ = Held::by_word;
    }
    at_rest_.store(false, std::memory_order_relaxed);
  }

  /// For who must not wait for a holder that has said so by `stop` (acquire). False: it is not taken.
  bool lock_unless(const std::atomic<bool>& stop);

  void unlock() {
    if (held_ == Held::by_favour) {
      favoured_holds_.store(false, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      held_ = Held::no;
    } else {
      held_ = Held::no;
      unlock_word();
    }
    detail::leave_engine();
  }

  /// Gives the lock up for long enough that a thread that spins for it gets it.
  void give_way() {
    unlock();
    for (int pause = 0; pause < 8; ++pause) __builtin_ia32_pause();
    lock();
  }

  /// For code that may have interrupted the holder, such as a signal handler that writes: it must not wait for the lock.
  [[nodiscard]] static bool held_by_this_thread() { return held_ != Held::no; }
  /// The calling thread holds the lock, and took it by favour.
  [[nodiscard]] static bool held_by_favour() { return held_ == Held::by_favour; }

  /// [held] Until somebody takes the lock again, `is_at_rest`.
  void leave_at_rest() { at_rest_.store(true, std::memory_order_relaxed); }
  /// [any thread] Out of date by no more than a store takes to be seen.
  [[nodiscard]] bool is_at_rest() const { return at_rest_.load(std::memory_order_acquire); }

  /// Somebody else wants the lock. A hint.
  [[nodiscard]] bool contended() const { return waiting_.load(std::memory_order_relaxed) != 0; }

 private:
  enum class Held : std::uint8_t { no, by_word, by_favour };

  static const void* this_thread() { return &held_; }

  static void enter() {
    if (++detail::engine_depth == 1 && PageGuard::active() != 0) [[unlikely]]
      held_signals::hold();
  }

  /// `held_` is true for longer than `favoured_holds_`: a signal handler in between must not take the lock, by favour once more,
  /// and give it back.
  bool lock_by_favour() {
    if (favoured_.load(std::memory_order_relaxed) != this_thread()) return false;
    held_ = Held::by_favour;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    favoured_holds_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // for the compiler; for the processor there is membarrier
    if (favoured_.load(std::memory_order_relaxed) == this_thread()) [[likely]] {
      ++taken_by_favour_;
      return true;
    }
    favoured_holds_.store(false, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    held_ = Held::no;
    return false;
  }
  void lock_word();
  void unlock_word() {
    if (word_.exchange(0, std::memory_order_release) == 2) wake_one();
  }
  void lock_contended();
  bool try_spinning(std::uint32_t taken);
  void wake_one();
  /// With the word taken: gives the favour, or takes it away. False: the favoured thread still holds the lock, and `stop` was
  /// set.
  bool settle_favour(const std::atomic<bool>* stop);
  bool wait_for_favoured(const std::atomic<bool>* stop);

  static constexpr std::uint64_t longest_calm = std::uint64_t{1} << 24;

  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint32_t> waiting_{0};
  // Belong to `word_`.
  const FavourTerms terms_;
  const void* preferred_ = nullptr;  // a thread
  std::uint64_t calm_ = 0;           // so often in a row the preferred thread has taken the word
  std::uint64_t calm_needed_ = terms_.undisturbed;

  alignas(cache_line) std::atomic<const void*> favoured_{nullptr};  // a thread
  std::atomic<bool> favoured_holds_{false};
  std::atomic<bool> at_rest_{false};
  std::uint64_t taken_by_favour_ = 0;  // since it was given; the favoured thread's, and of who has taken the favour away
  // In the static TLS block, since signal handlers read it.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local Held held_ = Held::no;
};

}  // namespace sluice
