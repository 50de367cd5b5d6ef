// Who copies a large message inside a node, as the engine of the receiver decides it (CO, sections II-B and II-D); the rules
// themselves are in cooperative_choice.hpp.
//
// COOP-hybrid (`auto`) looks at what the two processes do now rather than at the kinds of their calls alone: a thread in MPI_Wait
// has its processor as free as one in MPI_Recv. The receiver knows of itself whether a thread of its application waits, and of
// the sender by its attention word whether somebody looks at messages there.
//
//   a processor for every process
//     both wait                    both copy; of a message for which that is not worth it (calibration.hpp) the receiver
//     only the receiver waits      it reads: the sender's helper thread would take the processor from its application
//     only the sender waits        it copies; the receiver takes part as soon as it waits (claims, engine_cooperative.cpp)
//     neither, Isend and Irecv     who has less to copy: one of the helper threads has to (COOP-load)
//     neither, otherwise           the sender, as above
//   more processes than processors
//     MPI_Send meets MPI_Irecv     the sender: one that receives from many would copy for all of them (table II)
//     otherwise, receiver waits    it reads: it has the processor now, and needs no answer of a sender that does not
//     otherwise                    the sender
//
// What is expected of whom (COOP-load) is told by the receiver alone, from its decision until the transfer ends or goes another
// way. So every expectation is taken back by the process that told it, or by the one that it concerns when that process dies.

#include "runtime/engine_state.hpp"

namespace sluice {
namespace {

SendCall call_of(std::uint8_t rts_flags) {
  if ((rts_flags & flag_sender_waits) != 0) return SendCall::blocking;
  return (rts_flags & flag_buffered) != 0 ? SendCall::buffered : SendCall::nonblocking;
}

bool neither_blocks(const Request& receive) { return call_of(receive.rts_flags) == SendCall::nonblocking && !receive.call_waits; }

}  // namespace

Engine::State::CopyChoice Engine::State::choose_copier(const Request& receive) const {
  switch (inside_a_node(config.rendezvous)) {
    case Rendezvous::rput:
      return {Copier::sender, trace::Reason::asked_for};
    case Rendezvous::rget:
      return {Copier::receiver, trace::Reason::asked_for};
    case Rendezvous::coop:
      return {Copier::both, trace::Reason::asked_for};
    case Rendezvous::coop_coll:
      return {copier_by_calls(call_of(receive.rts_flags), receive.call_waits && !receive.released), trace::Reason::calls};
    case Rendezvous::coop_load:
      return {choose_by_load(receive), trace::Reason::load};
    default:
      return choose_hybrid(receive);
  }
}

Engine::State::CopyChoice Engine::State::choose_hybrid(const Request& receive) const {
  const bool receiver_waits = inside != 0 && !receive.released;
  if (!receiver_waits) {
    const bool neither_waits = !oversubscribed && neither_blocks(receive) && !transport->is_attentive(receive.peer);
    if (neither_waits) return {choose_by_load(receive), trace::Reason::load};
    if (oversubscribed) return {Copier::sender, trace::Reason::sender_copies};
    return {Copier::both, trace::Reason::both_copy};
  }
  if (oversubscribed) {
    const bool sender_alone = call_of(receive.rts_flags) == SendCall::blocking && !receive.call_waits;
    if (sender_alone) return {Copier::sender, trace::Reason::calls};
  } else if (receive.stop - receive.offset >= coop_bytes && transport->is_attentive(receive.peer)) {
    return {Copier::both, trace::Reason::both_copy};
  }
  return {Copier::receiver, trace::Reason::receiver_waits};
}

Copier Engine::State::choose_by_load(const Request& receive) const {
  return copier_by_load(transport->copy_load(receive.peer), transport->copy_load(self));
}

void Engine::State::expect_copies(Request& receive, Copier copier) {
  const Rendezvous rendezvous = inside_a_node(config.rendezvous);
  const bool hybrid = rendezvous == Rendezvous::automatic && !oversubscribed && neither_blocks(receive);
  if (rendezvous != Rendezvous::coop_load && !hybrid) return;
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
