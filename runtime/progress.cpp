#include "runtime/progress.hpp"

#include <sched.h>

#include <algorithm>
#include <functional>

#include "runtime/guard/held_signals.hpp"
#include "runtime/trace/call.hpp"
#include "runtime/wake_policy.hpp"

namespace sluice {
namespace {

using std::chrono::microseconds;

/// A small message may be seen that much later than its sender has looked whom to wake (shmem/wake_word.hpp). In this time a
/// store has left its processor many times over.
constexpr microseconds second_look{100};

}  // namespace

namespace detail {
std::atomic<bool> host_call_prepared{false};
constinit thread_local const void* in_host_call = nullptr;
}  // namespace detail

Progress::Progress(const Parts& parts)
    : concurrent_calls_(parts.work.job.concurrent_calls),
      lock_(parts.lock),
      blocks_(parts.blocks),
      work_(parts.work),
      sleepers_(parts.sleepers) {}

void Progress::begin() {
  if (const WakeMask level = needed_wake_mask(work_, host_call_); level != WakeMask::none) set_wake_mask(level);
}

void Progress::set_wake_mask(WakeMask level) {
  wake_mask_ = level;
  if (transport()) transport()->set_wake_mask(level);
}

/// With several threads in calls nobody can say when the last one is back from the host.
void Progress::set_host_call(bool now) {
  host_call_ = now;
  detail::host_call_prepared.store(now, std::memory_order_relaxed);
}

/// The host has called back, and goes on when the program returns. One that was left by a jump is above on the stack.
bool Progress::is_callback() { return std::less<>()(__builtin_frame_address(0), detail::in_host_call); }

void Progress::prepare_for_host_call(Lock& lock) {
  set_host_call(true);
  if (application_.inside == 0) arm(lock);
}

void Progress::leave(Lock& lock) {
  --application_.inside;
  if (application_.inside == 0) {
    if (is_callback()) set_host_call(true);
    if (blocks_.are_to_end()) [[unlikely]]
      end_blocks();
    arm(lock);
    if (transport()) transport()->leave_wakeups();
  } else if (application_.inside == sleepers_.count) {
    set_wake_mask(WakeMask::sleeper);
    if (transport() && (transport()->pending() || work_.has_copies() || work_.has_come_in_lanes() || work_.calls_have_work()))
      transport()->poke();
  }
}

void Progress::arm(Lock& lock) {
  constexpr int attempts = 8;
  bool looked = false;  // there was nothing more; for what comes now its sender wakes whom the wake mask says
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const WakeMask level = needed_wake_mask(work_, host_call_);
    if (level == WakeMask::none || !transport()) return;
    set_wake_mask(copies_left(work_) == CopiesLeft::to_next_call ? level | EventMask::waiting : level);
    const bool copies_first = copies_left(work_) == CopiesLeft::made_first;
    looked = !copies_first && !transport()->pending();
    if (looked) break;
    set_wake_mask(WakeMask::none);  // for this thread polls once more: who gets its answer had better not wake anybody meanwhile
    if (copies_first) {
      round(lock);
    } else {
      work_.take_messages();
    }
    if (application_.inside != 0) return;  // another thread came in while a copy ran outside the lock
  }
  const CopiesLeft left = copies_left(work_);
  const bool leaves_copies = left == CopiesLeft::none || left == CopiesLeft::to_next_call;
  if (!leaves_copies || work_.wants_rounds() || !looked) transport()->wake_helper();
}

void Progress::sleep(Lock& lock, microseconds limit) {
  if (!sleepers_.any() && transport()) transport()->forget_pokes();
  const Counted asleep(sleepers_.count, lock);
  set_wake_mask(WakeMask::sleeper);
  if (!work_.has_some_now()) {
    if (transport()) {
      transport()->tell_of_waiting();  // after the wake mask: who leaves something undone from now on sees that nobody looks
      transport()->flush_wakeups();
    }
    // Another thread may complete what this one waits for, and poke it in between.
    const std::uint64_t completions = work_.requests().completions();
    sleep_unlocked(lock, std::min(limit, second_look));
    if (limit > second_look && work_.requests().completions() == completions && !work_.has_some_now())
      sleep_unlocked(lock, limit);
  }
  set_wake_mask(WakeMask::none);
}

/// As long as a thread polls, peers wake nobody: who polls sees what others that sleep wait for.
void Progress::wake_for_lanes() {
  if (sleepers_.any() && work_.has_come_in_lanes()) sleepers_.wake();
}

/// Returns at once when the wake mask has been taken meanwhile.
void Progress::sleep_unlocked(Lock& lock, microseconds limit) {
  lock.unlock();
  {
    const held_signals::Window window;
    const trace::Span traced(trace::Kind::sleep);
    transport() ? transport()->sleep(limit) : static_cast<void>(sched_yield());
  }
  lock.lock();
}

/// As soon as no message is in or out of a block: what cannot be now, the next one that leaves tries again.
void Progress::end_blocks() {
  if (work_.may_use_blocks() || !blocks_.may_end()) return;
  if (transport()) transport()->leave_address_space();
  blocks_.end();
}

// --- polls that find nothing -------------------------------------------------------------------------------------------
//
// A program that waits in a loop of its own makes many. A holder of the engine lock that leaves nothing to do leaves the lock at
// rest (engine/lock.hpp). As long as it is, a poll is a look at the transport, which takes no lock: nobody has begun anything
// since, and what comes is seen by the look.

void Progress::idle_call(Lock& lock, bool host_is_called) {
  const HostHooks& host = job().host;
  const IdleCalls::Turns turns = idle_calls_.note(!host_is_called && host.outstanding && host.outstanding());
  if (turns.telling && transport()) transport()->tell_of_waiting();
  const bool host_turn = turns.host && host.progress && !host_is_called;
  if (!host_turn && !job().oversubscribed) return;
  lock.unlock();
  if (host_turn) host.progress();
  if (job().oversubscribed) sched_yield();
  lock.lock();
}

/// Where processes share processors every call gives its processor away, and is no look only. Nor is one that peers may ask for:
/// whether a sender is in a call they see by its wake mask (Transport::is_attentive), which a look leaves as it is.
bool Progress::is_at_rest() const {
  const bool is_asked_for = work_.requests().counts().pending_sends != 0 && wake_mask_ != WakeMask::none;
  return application_.inside == 0 && !job().oversubscribed && work_.is_done() && !is_asked_for &&
         (!transport() || transport()->is_at_rest());
}

void Progress::poll(bool awaits_several, bool host_is_called) {
  Lock lock(lock_);
  bool moved = false;
  {
    const Inside here(*this, lock);
    if (awaits_several) note_several();
    moved = round(lock);
    if (!moved) idle_call(lock, host_is_called);
  }
  if (!moved && is_at_rest()) lock_.leave_at_rest();
}

}  // namespace sluice
