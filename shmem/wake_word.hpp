// Waking a process for what has arrived in its inbox.
//
// Each inbox has one wake word. Its owner raises it before it stops polling and then looks once more for messages; a
// sender publishes a message and then looks at the word:
//
//     owner                                sender
//     wake_mask = level     (seq_cst)      control word of the record = ...  (seq_cst)
//     pending?              (seq_cst)      read wake_mask                    (seq_cst)
//     nothing: sleep                       asks for it: take it (exchange with none) and wake
//
// All four are sequentially consistent, so at least one side sees the other.
//
// A small message (EventMask::eager) is published with release order only: a fence would make its sender wait until the line of
// the record, which the owner has read last, is back. So the sender may read an old wake mask although the owner does not see the
// message yet. The store leaves the sender's processor within a µs or so all the same, whatever that does next. Therefore who has
// raised the wake mask for EventMask::eager looks a second time later, with its wake mask raised all the while: a thread that
// sleeps after 100 µs (Progress::sleep), the helper thread by a timer (remind_helper). A message that both looks miss is found
// when the sleep ends, which no thread prolongs over 10 ms, or by the next call.
//
// Whoever takes the wake mask wakes, once: later
// senders find `none` until the owner raises it again. A sleeping thread waits on the word itself (futex, compared by the
// kernel with `sleeper`, so a wake between the look and the sleep is not lost); the helper thread waits on an eventfd, which
// remembers.
#pragma once

#include <atomic>
#include <chrono>

#include "runtime/transport/wake_mask.hpp"

namespace sluice {

/// Takes the wake mask when it asks for `events` and wakes its owner; `helper_bell` is the owner's eventfd.
void wake_owner(std::atomic<WakeMask>& wake_mask, EventMask events, int helper_bell);

/// Sleeps while the word is `sleeper`, at most `limit`.
void sleep_on(std::atomic<WakeMask>& wake_mask, std::chrono::microseconds limit);

/// Wakes every thread that sleeps on the word.
void wake_sleepers(std::atomic<WakeMask>& wake_mask);

/// Makes an eventfd readable.
void ring_bell(int helper_bell);

}  // namespace sluice
