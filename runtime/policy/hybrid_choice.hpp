// COOP-hybrid (`auto`): who copies a large message inside a node, by the kinds of both calls (cooperative_choice.hpp) and by what
// the two processes do now. A thread in MPI_Wait has its processor as free as one in MPI_Recv.
//
//   a processor for every process
//     both sides send as much, or a short message, of which two halves are not worth it (calibration.hpp)
//                                  the receiver. Both, if its helper thread has matched it and the sender waits in a call: there
//                                  is a processor that has nothing to do. Several long ones at once into memory that is not in
//                                  the receiver's own cache are as if they went one way: each side has as much to copy, but one
//                                  is ahead, and takes part in the other's. Windows of 16 MB each way, GB/s, where receivers
//                                  read, senders write, and both: 64 KB 13.8, 11.8, 13.1, 128 KB 17.0, 16.1, 16.6, 192 KB 18.1,
//                                  17.8, 18.0, 1 MB 20.2, 20.8, 21.3, 4 MB 21.6, 20.8, 21.4 (auto's time over that of receivers,
//                                  measured twice: 1 MB 0.93 and 0.96, 4 MB 0.93 and 0.98); but into one buffer again and again,
//                                  1 MB 61, 35, 36
//     Isend meets Irecv, and the sender is not in a call now
//                                  the receiver, unless it is a long message, or one of several that come at once: of these the
//                                  receiver reads, and the sender takes part if it comes into a call meanwhile. Whether it is
//                                  in one is not asked there: the word is in the sender's cache, and it writes to it in each
//                                  MPI_Isend of a window (of 64 KB messages: coop was 1.07 times as fast as auto, and is 0.98)
//     Isend or Bsend meets Recv, and the sender is not in a call now
//                                  the receiver reads, and the sender takes part if it comes into a call meanwhile, as in
//                                  MPI_Waitall after MPI_Isend: its helper thread would take the processor from its application
//     otherwise                    both; each takes part while it waits, and the helper thread of a sender that does not. Who is
//                                  late or busy claims less (rendezvous/write_delivery.hpp), which is a finer balance than a
//                                  choice by load, and was faster
//   more processes than processors
//     somebody waits at the receiver, a message of which two halves clearly pay between any two processors (calibration.hpp)
//                                  both, if the sender waits, too. Otherwise the receiver reads, and the sender takes part if it
//                                  comes into a call meanwhile: 4 MB along eight ranks in pieces of 256 KB, two processors,
//                                  auto over the best forced protocol 1.05 without that, 1.01 with it; 1 MB 1.04, 0.99
//     MPI_Recv or MPI_Send, both sides wait, a very long message
//                                  both: one that sends to many, or receives from them, has a processor of the node more often
//                                  than each of these
//     MPI_Send, not to MPI_Recv, a long message, very many processes
//                                  the sender (table II), where measurement says that it copies in less time: reading would go by
//                                  one processor, and what they have just written they write with all
//     somebody waits at the receiver
//                                  the receiver: it has the processor now, and needs no answer of a sender that does not
//     otherwise                    the sender, as MPI_Send that meets MPI_Irecv (table II)
//     But a short message is always read by the receiver: an answer that asks the sender to copy costs that a turn
//
// Before all that: what the sender writes anew before each message may be its own to copy (message_lines.hpp).
//
// Pure; rendezvous/copy_choice.cpp knows the message and asks.
#pragma once

#include <cstddef>

#include "runtime/policy/cooperative_choice.hpp"
#include "runtime/trace/kinds.hpp"

namespace sluice {

struct CopyChoice {
  Copier copier{};
  trace::Reason reason{};
  bool if_idle = false;  // both: the sender only if its application comes into a call
};

/// What a receiver knows when a message has met its receive.
struct CopySituation {
  std::size_t bytes = 0;
  SendCall send = SendCall::blocking;
  bool receive_blocks = false;   // MPI_Recv
  bool receiver_waits = false;   // a thread of its application is in a call, which has not released the receive
  bool found_in_a_call = false;  // by the application, not by the helper thread
  bool is_exchange = false;      // the receiver sends as much itself
  bool one_of_several = false;   // others come at the same time
  bool into_own_cache = false;   // its target's lines are in the receiver's own cache
  bool pays_in_turns = false;    // two halves, also where the processes share processors (calibration.hpp)
  bool is_gathered = false;      // long, and there are many processes on each processor (calibration.hpp)
  bool oversubscribed = false;   // the processes of the node share processors
};

namespace hybrid {

/// Shorter than that, a message of which nobody blocks in its call is not worth waking a helper thread for beside a program that
/// computes. Where the sender waits, two halves are, also of messages one after the other. Windows of them one way, µs for each
/// where the receiver reads and where both copy (AMD EPYC guest): 48 KB 10.2 and 5.6, 64 KB 8.5 and 6.1, 128 KB 14.3 and 9.2.
inline constexpr std::size_t least_worth_waking = std::size_t{192} << 10;
/// Of messages that nobody waits for, from MPI_Send to MPI_Irecv and others. Where it lies best was not measured since helper
/// threads are woken more rarely.
inline constexpr std::size_t least_copied_by_blocked_sender = std::size_t{128} << 10;
inline constexpr std::size_t least_copied_by_sender = std::size_t{1} << 20;
/// Two processors, µs until all data are read, where the receivers read, where the senders copy, and where both do. Gathered from
/// three ranks: 256 KB 38, 62, 45; 1 MB 157, 239, 183; 2 MB 309, 512, 336; 4 MB 865, 1057, 769. From seven: 256 KB 113, 175, 120;
/// 1 MB 372, 557, 404; 2 MB 1375, 1438, 1245; 4 MB 2496, 2549, 2395. (With a byte of each page read senders were ahead, as what
/// they wrote cost nothing then.) Scattered to three, a byte of each page read, by the receivers and by both: 1 MB 181 and 232,
/// 2 MB 501 and 488, 4 MB 782 and 697, 8 MB 1900 and 1619.
inline constexpr std::size_t least_shared_in_turns = std::size_t{2} << 20;

}  // namespace hybrid

/// `coop_bytes`: from where on two halves are worth their messages. `sender_waits` says whether somebody looks at messages at the
/// sender now; asked only where that matters, as it is a look into the sender's memory.
template <typename SenderWaits>
[[nodiscard]] CopyChoice choose_hybrid(const CopySituation& now, std::size_t coop_bytes, const SenderWaits& sender_waits) {
  using trace::Reason;
  const bool send_blocks = now.send == SendCall::blocking;
  if (now.oversubscribed) {
    const bool is_very_long = (send_blocks || now.receive_blocks) && now.bytes >= hybrid::least_shared_in_turns;
    if (now.receiver_waits && now.is_gathered && send_blocks && !now.receive_blocks)
      return {Copier::sender, Reason::sender_copies};
    if (now.receiver_waits) {
      if ((is_very_long || now.pays_in_turns) && sender_waits()) return {Copier::both, Reason::both_copy};
      if (now.pays_in_turns) return {Copier::both, Reason::calls, true};
      return {Copier::receiver, Reason::receiver_waits};
    }
    const bool by_table = send_blocks && !now.receive_blocks;
    if (by_table && now.bytes >= hybrid::least_copied_by_blocked_sender) return {Copier::sender, Reason::calls};
    if (now.bytes >= hybrid::least_copied_by_sender) return {Copier::sender, Reason::sender_copies};
    return {Copier::receiver, Reason::is_short};
  }
  const bool reads_short = now.bytes < coop_bytes && (now.found_in_a_call || !sender_waits());
  const bool nobody_blocks = !send_blocks && !now.receive_blocks;
  const bool is_long = now.bytes >= hybrid::least_worth_waking;
  const bool has_own_to_copy = now.is_exchange && (now.into_own_cache || !now.one_of_several || !is_long);
  if (has_own_to_copy && (now.found_in_a_call || !sender_waits())) return {Copier::receiver, Reason::exchange};
  const bool is_worth_waking = !nobody_blocks || is_long;
  if (now.one_of_several && now.receiver_waits && !is_worth_waking && now.bytes >= coop_bytes)
    return {Copier::both, Reason::calls, true};
  if (reads_short || (!is_worth_waking && !sender_waits()))
    return {Copier::receiver, now.receiver_waits ? Reason::receiver_waits : Reason::is_short};
  if (now.receiver_waits && now.receive_blocks && !send_blocks && !sender_waits()) return {Copier::both, Reason::calls, true};
  return {Copier::both, Reason::both_copy};
}

}  // namespace sluice
