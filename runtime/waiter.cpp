#include "runtime/waiter.hpp"

#include <sched.h>

#include <algorithm>

#include "runtime/base/clock.hpp"
#include "runtime/guard/held_signals.hpp"

namespace sluice {
namespace {

using std::chrono::microseconds;

/// Polling beats sleeping until the wait is long against a wake-up (5 to 50 µs); so it does with a yield after each look, where
/// processes share processors. Seven that sleep are woken one after the other: 1 MB to each, by a root that writes for 700 µs
/// before, took 1470 µs where they slept after 300 µs, and takes 1310.
constexpr std::uint64_t awake_ns = 2'000'000;
/// Over sockets the kernel wakes whom a message is for on the processor that took the packet in, although a thread may be
/// spinning there, for this message's answer: so often it lets others run.
constexpr std::uint64_t yield_interval_ns = 200'000;
/// The clock is read after this many rounds.
constexpr unsigned rounds_per_reading = 32;
/// How long the host may go without progress, unless it surely has work: then it gets a turn in each step.
constexpr std::uint64_t host_idle_ns = 1'000'000;
/// How long the application's signals may be kept waiting by a thread that waits in a call.
constexpr std::uint64_t signal_latency_ns = 1'000'000;
/// How often a process that waits says so, as a peer may leave something undone at any time. Peers are between two calls for a µs
/// or so. To look at each of them costs up to 0.1 µs.
constexpr std::uint64_t telling_ns = 5'000;
constexpr std::uint64_t telling_ns_per_peer = 500;
constexpr microseconds sleep_host_idle{10'000};
/// How often a wait for a last byte looks in the time that it has lasted.
constexpr std::uint64_t looks_while_waiting = 16;

}  // namespace

/// With something under guard their handlers may touch it. And they may leave the call by a jump: from here on nothing is held
/// then.
void Waiter::let_signals_in(Lock& lock, std::uint64_t now) {
  if (now - last_window_ < signal_latency_ns) return;
  last_window_ = now;
  held_signals::hold();
  lock.unlock();
  { const held_signals::Window window; }
  lock.lock();
}

void Waiter::yield_now_and_then(Lock& lock, std::uint64_t now) {
  if (!progress_.job().uses_sockets || progress_.job().oversubscribed ||
      now - std::max(started_, last_yield_) < yield_interval_ns)
    return;
  last_yield_ = now;
  lock.unlock();
  sched_yield();
  lock.lock();
}

void Waiter::tell_of_waiting() {
  if (progress_.job().oversubscribed) return;  // nobody leaves anything undone
  const std::uint64_t interval = telling_ns + telling_ns_per_peer * progress_.job().processes_on_node;
  if (waited_ns_ - last_telling_ < interval) return;
  last_telling_ = waited_ns_;
  if (progress_.job().transport) progress_.job().transport->tell_of_waiting();
}

void Waiter::poll_host(Lock& lock, std::uint64_t now) {
  if (who_ != Who::application || !progress_.job().host.progress) return;
  if (now - last_host_poll_ < host_idle_ns && !host_is_busy()) return;
  last_host_poll_ = now;
  lock.unlock();
  may_call_host_ = progress_.job().host.progress();
  lock.lock();
}

/// Peers may wait in the host for what only this process's calls drive.
bool Waiter::host_is_busy() const {
  return who_ == Who::application && may_call_host_ && progress_.job().host.outstanding && progress_.job().host.outstanding();
}

void Waiter::begin(std::uint64_t now) {
  started_ = last_host_poll_ = last_window_ = now;
  uncancelled_.begin();
}

void Waiter::let_cancellation_act(Lock& lock) {
  if (cancellation::requests() == requests_to_cancel_) [[likely]]
    return;
  requests_to_cancel_ = cancellation::requests();
  lock.unlock();
  uncancelled_.let_act();
  lock.lock();
}

void Waiter::step(Lock& lock, std::uint64_t until_ns) {
  if (progress_.lock().contended()) progress_.lock().give_way();
  if (progress_.job().oversubscribed) {
    lock.unlock();
    sched_yield();
    lock.lock();
  } else if (++steps_ % rounds_per_reading != 0) {
    return;
  }
  const std::uint64_t now = now_ns();
  if (started_ == 0) begin(now);
  waited_ns_ = now - started_;
  tell_of_waiting();
  let_signals_in(lock, now);
  yield_now_and_then(lock, now);
  poll_host(lock, now);
  const std::uint64_t completions = progress_.work().requests().completions();
  if (completions != seen_completions_) last_completion_ = now;
  seen_completions_ = completions;
  if (now - std::max(started_, last_completion_) < awake_ns) return;
  if (until_ns <= waited_ns_) return;
  if (progress_.job().transport && static_cast<int>(progress_.job().transport->vanished()) >= 0)
    progress_.job().transport->wake_helper();
  if (host_is_busy()) return;  // the host would not sleep, and a peer's lock in one of its windows takes many of its turns
  microseconds limit = sleep_host_idle;
  // What comes to a receive that was announced wakes nobody. Looked for more and more rarely, so that it is late by so much at
  // most.
  if (progress_.work().open_rtrs() != 0) limit = std::min(limit, microseconds(waited_ns_ / 1000 / looks_while_waiting + 1));
  limit = std::min(limit, microseconds((until_ns - waited_ns_) / 1000 + 1));
  progress_.sleep(lock, limit);
}

}  // namespace sluice
