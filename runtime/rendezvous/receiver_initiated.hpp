// Matching when the receiver speaks first (putnr, put): RV sections 2.2 and 3.2 assume that a receive names its sender; nothing
// is said there of other receives and other messages. Here both sides come to the same answer without asking each other.
//
// A receive is announced (rtr) to the sender that it names. The sender keeps the announcements that it may use in order, and the
// next message that such a receive accepts *takes* the first one: a large message is written to its memory, and does not take
// part in matching any more; any other (eager, too long, with gaps, from memory that cannot be registered) is sent as ever, and
// will match that receive when it arrives. So what the sender keeps must be what the receiver would match, in its order:
//
// 1. No receive is announced while an earlier one is pending that could accept the same message and is not announced itself:
//    MPI_ANY_SOURCE, MPI_ANY_TAG, small ones, with gaps, whose memory cannot be registered. (Later ones do no harm.)
// 2. Messages that were under way when the receive was posted. The announcement says how many eager and rts messages of this
//    sender had come (`seen`). If the sender has sent more, some crossed the announcement, and one of them may be for this
//    receive: the announcement is not kept. Every eager and rts says how many announcements had come to its sender (`rtrs`), so
//    the receiver knows, with the first message that crossed, which of its announcements were not kept: those with higher
//    numbers. They are withdrawn on this side too, and made once more, with the new count, when all that has arrived is handled.
//    Both sides drop the same ones: from the first that crossed to the last. So of two receives that accept the same message, the
//    earlier is never dropped alone, and rule 1 goes on to hold.
// 3. What was written and what was sent. Writes and messages to one peer share one queue: a message arrives when the writes
//    before it are in place, and the receiver looks at the last bytes of all receives announced to its sender before it matches
//    it. A message is not sent before the write in front of it is posted whole. A receive that a later write has completed by
//    then was not that message's: its sender decided in order of its calls.
//
// The receiver's memory is written to only between the announcement and the end of the receive: by rule 2 the sender never uses
// an announcement of a receive that was matched by a message. To take it back otherwise, the sender is asked (withdraw), and its
// answer comes behind whatever it has written:
//
// * one receive, that is to be cancelled;
// * all that were announced to this sender, when a call has waited for one of them for SLUICE_RTR_WAIT and would rather release
//   it (release/releases.cpp): the sender is late, and its rts will say when the data comes, wake who sleeps, and let go what is
//   held back. All of them, for rule 1. Until the answer is there nothing is announced to that sender.
//
//   receive:  posted → announced (rtr) → last byte changed, or fin: done
//                                      → an eager or rts matched it: as ever
//                                      → an announcement crossed: posted → announced (so many times)
//                                      → withdraw sent → withdrawn came: cancelled or posted | done, as above
//             posted → (rules, no memory) as ever
//   send:     queued  → takes an announcement: written → all posted: fin if the receiver cannot see the end → complete: done
//                     → takes one and cannot write, or has waited long enough: eager, rts
//
// The queue. RV's sender waits for the receiver; here for SLUICE_RTR_WAIT at most, since a receive may not be announced at all.
// Meanwhile everything later for the same peer waits behind it, as MPI does not let messages overtake. A peer for which a wait
// was in vain is not waited for any more until it announces something.
//
// The end. The last byte of the receive buffer gets a value, the sender looks whether the message ends with the same one, and
// then sends a fin. It also does when the message is shorter than the buffer (the byte is put back then), and when the receiver
// does not look because its adapter does not place data in order. Nobody else tells a sleeping thread: those that wait look from
// time to time (Waiter::step), and so does the helper thread while something hangs on it (PutSender::needs_looks).
//
// Unasked. Where no protocol is asked for, the receiver announces only what is worth it (policy/waited_sites.hpp), and a sender
// waits for nobody: it writes to what has been announced when its call comes. Both sides still agree, as the rules above hold for
// whatever is announced. A process that computes is woken for announcements, and for whoever takes them back, only from when a
// peer has told it of them: with the fin of a message that it has sent, which it waits for (flag_announces). Before that nothing
// is announced to it.
//
// The sender's side is put_sender.hpp, the receiver's put_receiver.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// Receives of this process that may be announced at a time, to all senders together.
inline constexpr std::size_t max_open_rtrs = 1024;
/// How often one receive is announced, in all.
inline constexpr std::uint8_t max_rtrs_each = 4;

/// Subject of a withdraw of all receives. No request has this name.
inline constexpr std::uint64_t every_receive = 0;

}  // namespace sluice
