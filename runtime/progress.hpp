// Who is in a call, who progresses, and whom what arrives wakes.
//
// A thread that waits in a call polls under the engine lock, which it gives up as soon as somebody else wants it (waiter.hpp),
// and sleeps in the transport when that lasts. One that leaves its call while something is outstanding sets the wake mask at
// which the helper thread is woken. The wake mask of the process:
//
//     none      somebody polls, or nothing that may come is worth waking anybody for
//     room … everything   the helper thread is woken (wake_policy.hpp says from which message on)
//     sleeper   a thread sleeps in a call: that is woken, for everything
//
//     any        ── enter ──> none                      (the thread will poll)
//     none       ── the last one leaves ──> needed_wake_mask, or none again for one more look (`arm`)
//     none       ── a thread sleeps ──> sleeper         (`sleep`), and none when it goes on
//     none       ── the last one that is awake leaves ──> sleeper
//
// Against lost wake-ups both sides follow one pattern: who stops polling sets the wake mask (sequentially consistent) and then
// looks once more whether something is pending; a sender publishes its message first and looks at the wake mask second. So one of
// them sees the other.
//
// Lock order: the engine lock before the lock of the guard; nothing else is taken. The lock is given up in `sleep`, in
// `idle_call` while the host progresses, and where Work::round copies a chunk: then other threads may enter and leave.
//
// Words. All belong to the engine lock, but for these:
//   detail::host_call_prepared   written under the lock, read by wrappers of host calls without: host_calls.hpp
//   IdleCalls                    written and read by any thread that polls: idle_calls.hpp
//   the wake mask                a copy of what the transport was told last; peers read the transport's
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/engine/application_now.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/lock.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/engine/sleepers.hpp"
#include "runtime/host_calls.hpp"
#include "runtime/idle_calls.hpp"
#include "runtime/transport/wake_mask.hpp"
#include "runtime/work.hpp"

namespace sluice {

using Lock = std::unique_lock<EngineLock>;

class alignas(cache_line) Progress {
 public:
  struct Parts {
    EngineLock& lock;
    Sleepers& sleepers;
    AliasBlocks& blocks;
    Work::Parts work;
  };
  explicit Progress(const Parts& parts);

  /// Once the rest of the engine is there: a peer may have something to ask before this process calls anything.
  void begin();

  // --- a thread in a call (use Inside)
  void enter() {
    ++application_.inside;
    if (host_call_ && !concurrent_calls_) [[unlikely]]
      set_host_call(false);
    if (wake_mask_ != WakeMask::none) set_wake_mask(WakeMask::none);
  }
  void leave(Lock& lock);
  /// Polls everything and does one piece of whatever work is there; true when something moved.
  bool round(Lock& lock) {
    if (application_.inside > 1) [[unlikely]]
      wake_for_lanes();
    return work_.round(lock, application_.inside);
  }
  /// Sleeps until something comes, no longer than `limit`; at once when there is something to do. [inside]
  void sleep(Lock& lock, std::chrono::microseconds limit);
  /// Application threads in a carried call, or in the fault handler.
  [[nodiscard]] std::uint32_t inside() const { return application_.inside; }

  // --- what calls wait for
  /// Many receives: their messages come as fast as they can be copied. One: the next one is asked for when it is there.
  void note_awaited(std::span<Request* const> requests) {
    std::size_t receives = 0;
    for (const Request* request : requests) receives += request && !request->is_send() ? 1 : 0;
    if (receives != 0) application_.awaits_many = receives > 1;
  }
  void note_several() { application_.awaits_many = true; }
  /// Threads in MPI_Wait and the like, for Counted.
  [[nodiscard]] std::uint32_t& waiting() { return application_.waiting; }

  // --- no thread in a call
  /// The application may be blocked in a call of the host's from now on.
  void prepare_for_host_call(Lock& lock);
  /// The calling thread has come here from a call of the host's, by a function of the program's or of the C library.
  [[nodiscard]] static bool is_callback();
  /// For a thread that touched a page, from before it enters until before it leaves: perhaps it did so in a call of the host's,
  /// and what was prepared for that holds until the call is over.
  class StaysInHostCall {
   public:
    explicit StaysInHostCall(Progress& progress) : progress_(progress), in_host_call_(progress.host_call_) {}
    void before_leaving() const {
      if (in_host_call_) progress_.set_host_call(true);
    }

   private:
    Progress& progress_;
    const bool in_host_call_;
  };
  /// The last thread leaves: whom what comes is to wake. Does first what cannot wait.
  void arm(Lock& lock);

  // --- polls that find nothing
  /// A look, while everything is at rest and it is nobody else's turn: then true, and nothing came. [lock not held]
  bool look() {
    const bool is_silent = lock_.is_at_rest() && (!work_.transport() || work_.transport()->is_silent());
    return is_silent && idle_calls_.note_at_rest();
  }
  /// [lock not held] A poll that is no look only. `host_is_called`: by the caller, after each poll, so that it needs no turns.
  void poll(bool awaits_several, bool host_is_called);
  /// A test or probe of this call found nothing.
  void idle_call(Lock& lock, bool host_is_called = false);

  /// Makes all blocks private if they are to end and no message is in or out of one. Tried again whenever the last thread leaves.
  void end_blocks();

  [[nodiscard]] const ApplicationNow& application() const { return application_; }
  [[nodiscard]] EngineLock& lock() { return lock_; }
  [[nodiscard]] const Work& work() const { return work_; }
  [[nodiscard]] const Job& job() const { return work_.job(); }
  [[nodiscard]] const Sleepers& sleepers() const { return sleepers_; }

 private:
  [[nodiscard]] Transport* transport() const { return work_.transport(); }
  [[nodiscard]] bool is_at_rest() const;
  void set_host_call(bool now);
  void set_wake_mask(WakeMask level);
  void sleep_unlocked(Lock& lock, std::chrono::microseconds limit);
  void wake_for_lanes();

  // What entering, leaving and polling look at, in two cache lines with the first parts of Work.
  ApplicationNow application_;
  WakeMask wake_mask_ = WakeMask::none;
  bool host_call_ = false;
  const bool concurrent_calls_;
  EngineLock& lock_;
  IdleCalls idle_calls_;
  AliasBlocks& blocks_;
  Work work_;
  Sleepers& sleepers_;
};

/// Marks the calling thread as inside the engine, so that nobody needs to be woken for what it will find by polling.
class Inside {
 public:
  Inside(Progress& progress, Lock& lock) : progress_(progress), lock_(lock) {
    ++detail::engine_depth;
    progress_.enter();
  }
  /// Also when a thread that lets signals in, or ends, is unwound: it has given the lock up.
  ~Inside() {
    if (!lock_.owns_lock()) lock_.lock();
    progress_.leave(lock_);
    detail::leave_engine();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Progress& progress_;
  Lock& lock_;
};

/// The calling thread, which is inside, counts in another of the engine's numbers.
template <typename Number>
class Counted {
 public:
  Counted(Number& number, Lock& lock) : number_(number), lock_(lock) { ++number_; }
  ~Counted() {
    if (!lock_.owns_lock()) lock_.lock();
    --number_;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  Number& number_;
  Lock& lock_;
};

}  // namespace sluice
