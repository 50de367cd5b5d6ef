// A `write` delivery that both sides take part in (COOP-p2p, CO section II-A1): the sender stores chunks from the front into the
// receiver's alias block, the receiver reads chunks from the back out of the sender's memory, until they meet (chunk_claims.hpp).
// The receiver takes part only while a thread of its application waits in a call; otherwise the delivery is a plain rput.
//
// Each side sends FIN when it has copied something, and waits for the other's FIN only if the other has. So:
//
//   sender:    copying → nothing left to claim → (the receiver claimed nothing) done
//                                              → (it did) awaiting fin → done | (cts stream for a hole) streaming → done
//   receiver:  helping → nothing left to claim → (the sender claimed nothing) done, FIN sent
//                                              → (it did) FIN sent, awaiting fin → done
//
// A FIN may come before the own part is done. A sender whose chunks are all taken before it looks (front = 0) may find the word
// already in another generation; it learns of the end by the receiver's FIN.
//
// A sender that computes may be asked to take part only if it comes into a call (flag_if_idle): its `cts` wakes nobody, and the
// receiver, which stays in its call until all is copied, leaves it what it has not claimed by then.
//
// Of several messages of one pair the sender writes the first one first, and the receiver reads the last one first, as if they
// were one long message: where the same buffers are used again, each of their lines is written by the same side again. (A line
// that a side writes after the other has waits until it is gone from that one's cache.) Messages of several peers take turns, a
// chunk each. 16 messages of 256 KB one after the other, processors far from each other: 290 µs in turns, 195 so.
//
// Not so where all of them are for one and the same buffer, as benchmarks do: there either side keeps to its end of it only if
// both copy the same message, so the receiver reads the first one first, too. What does not stay in a processor's own cache goes
// chunk by chunk of all these messages, so that each chunk does. Windows of 64, GB/s, the last one first, the first one first, in
// turns: 256 KB 22, 43 and 38; 1 MB 27, 58 and 50; 4 MB 26, 25 and 66 (the receiver alone 35, 37 and 37; the host 21, 16 and 10).
//
// Failures. The sender cannot write: it answers refuse(offset), the receiver closes the claims and fetches what lies between
// there and its own chunks another way. The receiver cannot read: it stops claiming, waits for the sender to be done with all
// others, and asks for the hole as a stream; its FIN is kept back until then.
//
// With an adapter (coop-hca, rendezvous/offload.cpp) the receiver's part is two: chunks that it reads itself and chunks that it
// has the adapter read. It is done when both are.

#include <algorithm>
#include <utility>

#include "runtime/base/fatal.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/wire_check.hpp"
#include "runtime/rendezvous/chunk_claims.hpp"

namespace sluice {
namespace {

std::uint32_t count_chunks(std::size_t bytes, std::uint32_t chunk_bytes) {
  return static_cast<std::uint32_t>((bytes + chunk_bytes - 1) / chunk_bytes);
}

}  // namespace

void Engine::State::open_chunks(Request& receive, ClearToSend& clear, bool takes_part) {
  const std::size_t bytes = receive.stop - receive.offset;
  ChunkClaims claims(transport->claims(receive.progress_slot));
  receive.shared = {
      .generation = claims.view().generation, .chunk_bytes = chunk_bytes_of(bytes, chunk_bytes), .start = receive.offset};
  receive.shared.chunks = count_chunks(bytes, receive.shared.chunk_bytes);
  clear.generation = receive.shared.generation;
  clear.chunk_bytes = receive.shared.chunk_bytes;
  receive.shared.own_part_done = !takes_part || receive.shared.chunks == 1;
  if (receive.shared.own_part_done) return;
  receive.shared.offloads = may_offload(receive);
  helping.insert_before(place_of_new(helping, receive), &receive);
}

void Engine::State::join_chunks(Request& send, const ClearToSend& clear) {
  send.shared = {.generation = clear.generation, .chunk_bytes = clear.chunk_bytes, .start = send.offset};
  send.shared.chunks = count_chunks(send.limit - send.offset, clear.chunk_bytes);
}

void Engine::State::send_fin_of_chunks(const Request& request) {
  MessageHeader header;
  header.kind = MessageKind::fin;
  header.flags = flag_of_chunks;
  if (!request.is_send()) header.flags |= fin_flags(request);
  header.subject = request.remote_request;
  send_or_queue(request.peer, header, {});
  if (trace::on()) [[unlikely]]
    trace::message_left(request, MessageKind::fin, 0);
}

// --- the sender --------------------------------------------------------------------------------------------------------

bool Engine::State::claim_for_writing(Request& send) {
  std::atomic<std::uint64_t>* word = transport->claims_at(send.peer, send.progress_slot);
  if (!word) fatal("rank %d has no progress slot %u", static_cast<int>(send.rank), send.progress_slot);
  return ChunkClaims(*word).claim_front(send.shared.generation, send.shared.chunks).claimed;
}

/// Only while this side has a chunk whose FIN is not sent, so that the word is still of this transfer.
bool Engine::State::all_claimed(const Request& send) {
  const ChunkClaims::View view = ChunkClaims(*transport->claims_at(send.peer, send.progress_slot)).view();
  return view.front + view.back >= send.shared.chunks;
}

void Engine::State::own_part_written(Request* send) {
  const bool copied = send->offset > send->shared.start;
  send->shared.own_part_done = true;
  const bool alone = copied && send->offset == send->limit;
  if (copied) {
    ++statistics.copies;
    send_fin_of_chunks(*send);
  }
  if (alone || send->shared.peer_done) finish(send, copied ? trace::with_last : 0);
}

// --- the receiver ------------------------------------------------------------------------------------------------------

bool Engine::State::run_help(Lock& lock) {
  Request* receive = helping.pop_front();
  Request::Shared& shared = receive->shared;
  if (shared.offloads) offload_chunks(*receive);
  const auto claim = ChunkClaims(transport->claims(receive->progress_slot)).claim_back(shared.generation, shared.chunks);
  if (!claim.claimed) {
    own_part_read(receive, claim.view.front);
    return true;
  }
  count_own_chunk(*receive);
  if (shared.own++ == 0) {
    ++statistics.cooperative;
    ++statistics.copies;
  }
  const std::size_t begin = shared.chunk_at(shared.chunks - shared.back);
  const std::size_t bytes = std::min(begin + shared.chunk_bytes, receive->stop) - begin;
  receive->copying = true;
  ++busy_copies;
  const std::size_t arrived = read_piece(lock, *receive, begin, bytes);
  count_copied(arrived);
  receive->copying = false;
  --busy_copies;
  if (arrived < bytes) {
    fall_back(*receive, why_short(*receive));
    shared.unreadable = true;
    shared.add_hole(begin + arrived, begin + bytes);
  }
  if (shared.refused) {
    after_refusal(receive);
    return true;
  }
  if (trace::on()) [[unlikely]]
    note_own_chunk(*receive);
  const ChunkClaims::View view = ChunkClaims(transport->claims(receive->progress_slot)).view();
  if (shared.has_hole() || shared.peer_done || view.front + view.back >= shared.chunks) {
    own_part_read(receive, view.front + view.back >= shared.chunks ? view.front : shared.chunks);
  } else {
    helping.insert_before(place_again(helping, *receive), receive);
  }
  return true;
}

/// Read by this side or its adapter.
void Engine::State::count_own_chunk(Request& receive) {
  ++receive.shared.back;
  if (!std::exchange(receive.counted_shared, true)) ++shared_receives;
}

/// With what the sender has written meanwhile. A hole lies among what would be counted.
void Engine::State::note_own_chunk(const Request& receive) const {
  const std::size_t missing = missing_bytes(receive);
  if (missing != 0 && !receive.shared.has_hole()) trace::progressed(receive, receive.limit - missing);
}

/// `front`: chunks of the sender's; not 0 while it may still claim one. What the adapter has still to bring ends the part later.
void Engine::State::own_part_read(Request* receive, std::uint32_t front) {
  if (receive->is_read_by_adapter()) return;
  Request::Shared& shared = receive->shared;
  shared.own_part_done = true;
  const bool sends_fin = shared.back != 0 && !shared.has_hole();
  if (sends_fin) send_fin_of_chunks(*receive);
  if (shared.peer_done || front == 0) finish_shared(receive, sends_fin ? trace::with_last : 0);
}

/// Nobody copies any more.
void Engine::State::finish_shared(Request* receive, std::uint64_t at_ns) {
  Request::Shared& shared = receive->shared;
  ChunkClaims(transport->claims(receive->progress_slot)).close();
  if (!shared.has_hole()) {
    receive->offset = receive->limit;
    message_lines.on_read(*receive);
    finish(receive, at_ns);
    return;
  }
  transport->close_progress_slot(receive->progress_slot);
  receive->progress_slot = Transport::no_slot;
  receive->offset = shared.hole_begin;
  receive->stop = shared.hole_end;
  receive->way = shared.unreadable ? Request::Way::stream : Request::Way::undecided;
  begin_transfer(receive);
}

/// All of it, or the part of a cooperative copy that the receiver made.
void Engine::State::note_read_by_peer(const Request& send, bool handed_back) {
  if (send.peer == self || send.owned || send.has_gaps() || !transport->can_read_blocks(send.peer)) return;
  message_lines.on_read_by_peer(send, handed_back);
}

/// The fin was told of just now.
void Engine::State::on_fin(Request* request, std::uint8_t flags) {
  Request::Shared& shared = request->shared;
  if (request->is_send()) note_read_by_peer(*request, (flags & flag_handed_back) != 0);
  if (request->way != Request::Way::write) {
    if ((flags & flag_of_chunks) != 0) return;  // crossed this side's refusal
    request->offset = request->limit;
    finish(request, trace::with_last);
    return;
  }
  shared.peer_done = true;
  if (request->kind == Request::Kind::send) {
    if (shared.own_part_done) {
      finish(request, trace::with_last);
    } else if (request->work_link.linked) {  // to be copied, but whoever is done has found every chunk claimed
      copies.remove(request);
      own_part_written(request);
    }
    return;
  }
  if (request->copying) return;  // run_help goes on from here
  if (request->work_link.linked) helping.remove(request);
  if (shared.own_part_done) {
    finish_shared(request, trace::with_last);
  } else {
    own_part_read(request, shared.chunks);
  }
}

void Engine::State::on_refuse(Request* receive, std::size_t offset) {
  if (const char* fault = refusal_fault(*receive, offset)) fatal("rank %d %s", static_cast<int>(receive->peer), fault);
  if (receive->way == Request::Way::rdma) return on_refused_rdma(*receive);
  fall_back(*receive, Fallback::write_refused);
  receive->offset = offset;
  receive->shared.refused = true;
  if (receive->copying) return;  // run_help goes on from here
  if (receive->work_link.linked) helping.remove(receive);
  after_refusal(receive);
}

/// Without its progress slot the transfer is not a write any more; begin_transfer takes the next way, for what lies between the
/// last chunk of the sender's and the first of this side's. Not while the adapter brings some of these.
void Engine::State::after_refusal(Request* receive) {
  if (receive->is_read_by_adapter()) return;
  const Request::Shared& shared = receive->shared;
  ChunkClaims(transport->claims(receive->progress_slot)).close();
  transport->close_progress_slot(receive->progress_slot);
  receive->progress_slot = Transport::no_slot;
  if (shared.has_hole()) {
    receive->stop = shared.hole_end;
  } else if (shared.back != 0) {
    receive->stop = shared.chunk_at(shared.chunks - shared.back);
  }
  begin_transfer(receive);
}

std::size_t Engine::State::missing_bytes(const Request& receive) const {
  const std::size_t begin = transport->progress(receive.progress_slot);
  const std::size_t end =
      receive.shared.back == 0 ? receive.stop : receive.shared.chunk_at(receive.shared.chunks - receive.shared.back);
  const std::size_t coming = receive.is_read_by_adapter() ? receive.rdma->outstanding * receive.shared.chunk_bytes : 0;
  return (end > begin ? end - begin : 0) + coming;
}

}  // namespace sluice
