// Who copies a large message inside a node, as the engine of the receiver decides it (CO, sections II-B and II-D); the rules
// themselves are in cooperative_choice.hpp.
//
// COOP-hybrid (`auto`) looks at what the two processes do now besides the kinds of their calls: a thread in MPI_Wait has its
// processor as free as one in MPI_Recv. The receiver knows of itself whether a thread of its application waits, and of the sender
// by its attention word whether somebody looks at messages there.
//
//   a processor for every process
//     both sides send as much, or a short message, of which two halves are not worth it (calibration.hpp)
//                                  the receiver; "short" is longer where not both calls block. Both, if its helper thread has
//                                  matched it and the sender waits in a call: there is a processor that has nothing to do
//     Isend or Bsend meets Recv, and the sender is not in a call now
//                                  the receiver reads: the sender's helper thread would take the processor from its application
//     otherwise                    both; each takes part while it waits, and the helper thread of a sender that does not. Who is
//                                  late or busy claims less (engine_cooperative.cpp), which is a finer balance than a choice
//                                  by load, and was faster
//   more processes than processors
//     a short message              the receiver: an answer that asks the sender to copy costs that a turn
//     nobody waits at the receiver the sender
//     MPI_Send meets MPI_Irecv     the sender: one that receives from many would copy for all of them (table II)
//     otherwise                    the receiver: it has the processor now, and needs no answer of a sender that does not
//
// What is expected of whom (COOP-load) is told by the receiver alone, from its decision until the transfer ends or goes another
// way. So every expectation is taken back by the process that told it, or by the one that it concerns when that process dies.

#include <algorithm>

#include "runtime/engine_state.hpp"

namespace sluice {
namespace {

/// Of messages that nobody waits for alone, several are often under way. Where the receiver has no sends of its own under way,
/// nor had any beside the last message, its peer's processor has little else to do. Windows of messages one way, GB/s where the
/// receiver reads and where both copy: 128 KB 10.4 and 7.7, 192 KB 11.1 and 11.8, 256 KB 11.4 and 13.6.
constexpr std::size_t least_shared_window = std::size_t{192} << 10;
/// Of processes that send to each other, each has its own copies to make, and the processors are equally busy without sharing
/// one. A message each way, µs where receivers read and where both copy: 256 KB 21 and 30, 1 MB 71 and 77, 4 MB 312 and 358; the
/// faces of a stencil, 1 MB: 106 and 162. Not so for a message that is so many times longer than what this process sends.
constexpr std::size_t least_uneven = 2;

/// Four ranks on two processors that gather, µs where the root reads and where the senders copy: 64 KB 29 and 71, 256 KB 98 and
/// 558, 512 KB 216 and 332.
constexpr std::size_t least_asked_of_sender = std::size_t{1} << 20;

SendCall call_of(std::uint8_t rts_flags) {
  if ((rts_flags & flag_sender_waits) != 0) return SendCall::blocking;
  return (rts_flags & flag_buffered) != 0 ? SendCall::buffered : SendCall::nonblocking;
}

}  // namespace

Engine::State::CopyChoice Engine::State::choose_copier(const Request& receive) const {
  switch (inside_a_node(config.rendezvous)) {
    case Rendezvous::rput:
      return {Copier::sender, trace::Reason::asked_for};
    case Rendezvous::rget:
      return {Copier::receiver, trace::Reason::asked_for};
    case Rendezvous::coop:
      return {Copier::both, trace::Reason::asked_for};
    case Rendezvous::coop_hca:
      return {Copier::both, trace::Reason::both_copy};
    case Rendezvous::coop_coll:
      return {copier_by_calls(call_of(receive.rts_flags), receive.call_waits && !receive.released), trace::Reason::calls};
    case Rendezvous::coop_load:
      return {choose_by_load(receive), trace::Reason::load};
    default:
      return choose_hybrid(receive);
  }
}

Engine::State::CopyChoice Engine::State::choose_hybrid(const Request& receive) const {
  using trace::Reason;
  const bool receiver_waits = inside != 0 && !receive.released;
  const bool send_blocks = call_of(receive.rts_flags) == SendCall::blocking;
  const std::size_t bytes = receive.stop - receive.offset;
  if (oversubscribed) {
    if (bytes < least_asked_of_sender) return {Copier::receiver, receiver_waits ? Reason::receiver_waits : Reason::is_short};
    if (!receiver_waits) return {Copier::sender, Reason::sender_copies};
    if (send_blocks && !receive.call_waits) return {Copier::sender, Reason::calls};
    return {Copier::receiver, Reason::receiver_waits};
  }
  const bool sender_waits = transport->is_attentive(receive.peer);
  const bool alone = send_blocks && receive.call_waits;
  const bool is_exchange = (receive.sends_too || exchanges) && bytes < least_uneven * last_large_send;
  const bool is_short = bytes < std::max(coop_bytes, alone ? 0 : least_shared_window);
  if ((is_exchange || is_short) && (Engine::this_thread_is_inside() || !sender_waits)) {
    if (is_exchange) return {Copier::receiver, Reason::exchange};
    return {Copier::receiver, receiver_waits ? Reason::receiver_waits : Reason::is_short};
  }
  if (receiver_waits && receive.call_waits && !send_blocks && !sender_waits) return {Copier::receiver, Reason::calls};
  return {Copier::both, Reason::both_copy};
}

Copier Engine::State::choose_by_load(const Request& receive) const {
  return copier_by_load(transport->copy_load(receive.peer), transport->copy_load(self));
}

void Engine::State::expect_copies(Request& receive, Copier copier) {
  if (inside_a_node(config.rendezvous) != Rendezvous::coop_load) return;
  const auto bytes = static_cast<std::int64_t>(receive.stop - receive.offset);
  if (copier != Copier::receiver) receive.expected_of_peer = copier == Copier::both ? bytes / 2 : bytes;
  if (copier != Copier::sender) receive.expected_of_self = copier == Copier::both ? bytes / 2 : bytes;
  if (receive.expected_of_peer != 0) transport->expect_copy(receive.peer, receive.expected_of_peer);
  if (receive.expected_of_self != 0) transport->expect_copy(self, receive.expected_of_self);
}

void Engine::State::end_expected_copies(Request& receive) {
  if (receive.expected_of_peer != 0) transport->expect_copy(receive.peer, -receive.expected_of_peer);
  if (receive.expected_of_self != 0) transport->expect_copy(self, -receive.expected_of_self);
  receive.expected_of_peer = receive.expected_of_self = 0;
}

void Engine::State::count_copied(std::size_t bytes) {
  statistics.bytes_copied += bytes;
  transport->copied(bytes);
}

}  // namespace sluice
