// Whom to wake for what was published, and when: at once, after a moment, or by a timer (wake_word.hpp has the words).
#include <sys/timerfd.h>

#include <utility>

#include "runtime/base/clock.hpp"
#include "shmem/transport.hpp"
#include "shmem/wake_word.hpp"

namespace sluice {
namespace {

/// How long a peer whose application computes may stay unaware of a message, where processors are shared.
constexpr std::uint64_t defer_ns = 50'000;

/// ... and how long, at most, when this process has stopped polling too.
constexpr long reminder_ns = 5'000'000;

/// How long a peer may be between two calls before its helper thread is woken; to wake it takes as long.
constexpr std::uint64_t between_calls_ns = 1'500;

template <typename Condition>
bool true_within(std::uint64_t ns, const Condition& condition) {
  if (condition()) return true;
  const std::uint64_t until = now_ns() + ns;
  bool is_true = false;
  while (!is_true && now_ns() < until) is_true = condition();
  return is_true;
}

}  // namespace

/// Where processes share processors, a helper thread that is woken takes the processor from the application that it helps, and
/// that application is most often back in a call a moment later. So the peer gets that moment, while this process polls on.
void ShmemTransport::wake_who_asked(Link& link, EventMask events) {
  const bool asks_helper = asks_helper_for(link.inbox.wake_mask().load(std::memory_order_seq_cst), events);
  if (events == EventMask::eager || !asks_helper) {
    wake_owner(link.inbox.wake_mask(), events, link.helper_bell.get());
  } else if (!patient_) {
    ring_unless_back(link, events);
  } else {
    if (deferred_.empty()) deferred_until_ = now_ns() + defer_ns;
    if (link.untold == EventMask::none) deferred_.push_back(&link);
    link.untold = link.untold | events;
  }
}

/// A peer that starts one nonblocking operation after the other is out of its calls for moments only, and its helper thread would
/// take the processor from it to do what it does itself in its next call: so that is waited for. An owner that has come back
/// looks for messages before it leaves again.
void ShmemTransport::ring_unless_back(Link& link, EventMask events) {
  const std::atomic<WakeMask>& wake_mask = link.inbox.wake_mask();
  (void)true_within(between_calls_ns, [&] { return !asks_helper_for(wake_mask.load(std::memory_order_seq_cst), events); });
  wake_owner(link.inbox.wake_mask(), events, link.helper_bell.get());
}

void ShmemTransport::tell_of_waiting() {
  for (const auto& peer : links_) {
    const bool left = peer && asks_helper_for(peer->inbox.wake_mask().load(std::memory_order_seq_cst), EventMask::waiting);
    if (left) ring_unless_back(*peer, EventMask::waiting);
  }
}

void ShmemTransport::ring_overdue() {
  if (now_ns() >= deferred_until_) flush_wakeups();
}

/// The application is most often back in a call, and polls, before anybody has to be told. For the other cases a timer wakes this
/// process's helper thread. It is not put off when it was not needed: that costs a virtual machine more than to be woken so
/// rarely.
void ShmemTransport::leave_wakeups() {
  if (!deferred_.empty()) remind_helper();
}

void ShmemTransport::remind_helper() {
  if (reminded_.exchange(true, std::memory_order_relaxed)) return;
  const itimerspec time{{}, {0, reminder_ns}};
  ::timerfd_settime(reminder_.get(), 0, &time, nullptr);
}

void ShmemTransport::flush_wakeups() {
  for (Link* link : deferred_) {
    wake_owner(link->inbox.wake_mask(), std::exchange(link->untold, EventMask::none), link->helper_bell.get());
  }
  deferred_.clear();
}

bool ShmemTransport::is_attentive(Peer peer) const {
  const WakeMask level = inbox_of(peer).wake_mask().load(std::memory_order_relaxed);
  return level == WakeMask::none || level == WakeMask::sleeper;
}

bool ShmemTransport::is_attentive_soon(Peer peer) const {
  return true_within(between_calls_ns, [&] { return is_attentive(peer); });
}

bool ShmemTransport::is_asleep(Peer peer) const {
  return inbox_of(peer).wake_mask().load(std::memory_order_seq_cst) == WakeMask::sleeper;
}

}  // namespace sluice
