#include "runtime/rendezvous/write_delivery.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/fatal.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/rendezvous/chunk_claims.hpp"
#include "runtime/rendezvous/rdma_transfer.hpp"

namespace sluice {
namespace {

std::uint32_t count_chunks(std::size_t bytes, std::uint32_t chunk_bytes) {
  return static_cast<std::uint32_t>((bytes + chunk_bytes - 1) / chunk_bytes);
}

bool all_taken(const ChunkClaims::View& view, const Request::Shared& shared) { return view.front + view.back >= shared.chunks; }

}  // namespace

std::uint8_t fin_flags(const Request& receive) { return receive.source_lines == SourceLines::handed_back ? flag_handed_back : 0; }

/// Of chunks that this side has copied. The match was told of before: with the clearance.
void WriteDelivery::send_fin(const Request& request, std::uint8_t flags) {
  const auto all_flags = static_cast<std::uint8_t>(flags | flag_of_chunks);
  parts_.outbox.send_control(request.peer, MessageKind::fin, request.remote_request, {}, all_flags);
  if (trace::on()) [[unlikely]]
    trace::message_left(request, MessageKind::fin, 0);
}

// --- the sender --------------------------------------------------------------------------------------------------------

void WriteDelivery::join(Request& send, const ClearToSend& clear) {
  send.shared = {.generation = clear.generation,
                 .chunk_bytes = clear.chunk_bytes,
                 .start = send.offset,
                 .by_address = clear.delivery == Delivery::write_at};
  send.shared.chunks = count_chunks(send.limit - send.offset, clear.chunk_bytes);
}

bool WriteDelivery::claim_for_writing(const Request& send) const {
  std::atomic<std::uint64_t>* word = parts_.job.transport->claims_at(send.peer, send.progress_slot);
  if (!word) fatal("rank %d has no progress slot %u", static_cast<int>(send.rank), send.progress_slot);
  return ChunkClaims(*word).claim_front(send.shared.generation, send.shared.chunks).claimed;
}

/// Only while this side has a chunk whose FIN is not sent, so that the word is still of this transfer.
bool WriteDelivery::all_claimed(const Request& send) const {
  return all_taken(ChunkClaims(*parts_.job.transport->claims_at(send.peer, send.progress_slot)).view(), send.shared);
}

bool WriteDelivery::write_chunk(Lock& lock, Request& send) {
  if (!claim_for_writing(send)) {
    own_part_written(send);
    return false;
  }
  if (!copies_.write(lock, send, std::min<std::size_t>(send.offset + send.shared.chunk_bytes, send.limit))) {
    send.way = Request::Way::undecided;
    const Refusal refusal{send.offset};
    parts_.outbox.answer(send, MessageKind::refuse, std::as_bytes(std::span(&refusal, 1)));
    return false;
  }
  if (!all_claimed(send)) return true;
  own_part_written(send);
  return false;
}

void WriteDelivery::own_part_written(Request& send) {
  const bool copied = send.offset > send.shared.start;
  send.shared.own_part_done = true;
  const bool alone = copied && send.offset == send.limit;
  if (copied) {
    ++parts_.statistics.copies;
    send_fin(send, 0);
  }
  if (alone || send.shared.peer_done) parts_.requests.finish(&send, copied ? trace::with_last : 0);
}

/// The fin was told of just now.
void WriteDelivery::receiver_done(Request& send, bool is_waiting) {
  send.shared.peer_done = true;
  if (send.shared.own_part_done) {
    parts_.requests.finish(&send, trace::with_last);
  } else if (is_waiting) {
    own_part_written(send);
  }
}

// --- the receiver ------------------------------------------------------------------------------------------------------

bool WriteDelivery::begin(Request& receive) {
  receive.progress_slot = parts_.job.transport->open_progress_slot();
  if (receive.progress_slot == NodeMemory::no_slot) return false;
  receive.way = Request::Way::write;
  return true;
}

void WriteDelivery::open_chunks(Request& receive, ClearToSend& clear, bool takes_part) {
  const std::size_t bytes = receive.stop - receive.offset;
  const ChunkClaims claims(parts_.job.transport->claims(receive.progress_slot));
  Request::Shared& shared = receive.shared;
  shared = {.generation = claims.view().generation,
            .chunk_bytes = chunk_bytes_of(bytes, parts_.job.chunk_bytes),
            .start = receive.offset,
            .by_address = clear.delivery == Delivery::write_at};
  shared.chunks = count_chunks(bytes, shared.chunk_bytes);
  if (shared.by_address) parts_.users.peers_may_write(ByteRange::of(receive.data, receive.limit));
  clear.progress_slot = receive.progress_slot;
  clear.generation = shared.generation;
  clear.chunk_bytes = shared.chunk_bytes;
  shared.own_part_done = !takes_part || shared.chunks == 1;
  if (shared.own_part_done) return;
  shared.offloads = parts_.adapter.joins(receive);
  helping_.insert_before(place_of_new(helping_, receive), &receive);
}

void WriteDelivery::help(Lock& lock) {
  Request& receive = *helping_.pop_front();
  Request::Shared& shared = receive.shared;
  if (shared.offloads) parts_.adapter.claim(receive);
  const auto claim =
      ChunkClaims(parts_.job.transport->claims(receive.progress_slot)).claim_back(shared.generation, shared.chunks);
  if (!claim.claimed) return own_part_read(receive, claim.view.front);
  count_own_chunk(receive);
  if (shared.own++ == 0) {
    ++parts_.statistics.cooperative;
    ++parts_.statistics.copies;
  }
  read_own_chunk(lock, receive);
  if (shared.refused) return after_refusal(receive);
  if (trace::on()) [[unlikely]]
    note_own_chunk(receive);
  const ChunkClaims::View view = ChunkClaims(parts_.job.transport->claims(receive.progress_slot)).view();
  if (shared.has_hole() || shared.peer_done || all_taken(view, shared)) {
    own_part_read(receive, all_taken(view, shared) ? view.front : shared.chunks);
  } else {
    helping_.insert_before(place_again(helping_, receive, parts_.lines.leave_own_cache(receive.limit)), &receive);
  }
}

/// The one that was claimed last.
void WriteDelivery::read_own_chunk(Lock& lock, Request& receive) {
  Request::Shared& shared = receive.shared;
  const std::size_t begin = shared.chunk_at(shared.chunks - shared.back);
  const std::size_t bytes = std::min(begin + shared.chunk_bytes, receive.stop) - begin;
  std::size_t arrived = 0;
  {
    const NodeCopies::Turn turn(copies_, receive);
    arrived = copies_.read(lock, receive, begin, bytes);
  }
  if (arrived == bytes) return;
  note_fallback(parts_.statistics, receive, copies_.why_short(receive));
  shared.unreadable = true;
  shared.add_hole(begin + arrived, begin + bytes);
}

/// Read by this side or its adapter.
void WriteDelivery::count_own_chunk(Request& receive) {
  ++receive.shared.back;
  if (!std::exchange(receive.counted_shared, true)) ++shared_receives_;
}

/// With what the sender has written meanwhile. A hole lies among what would be counted.
void WriteDelivery::note_own_chunk(const Request& receive) const {
  const std::size_t missing = missing_bytes(receive);
  if (missing != 0 && !receive.shared.has_hole()) trace::progressed(receive, receive.limit - missing);
}

/// `front`: chunks of the sender's; not 0 while it may still claim one. What the adapter has still to bring ends the part later.
void WriteDelivery::own_part_read(Request& receive, std::uint32_t front) {
  if (receive.is_read_by_adapter()) return;
  Request::Shared& shared = receive.shared;
  shared.own_part_done = true;
  const bool sends_fin = shared.back != 0 && !shared.has_hole();
  if (sends_fin) send_fin(receive, fin_flags(receive));
  if (shared.peer_done || front == 0) finish_shared(receive, sends_fin ? trace::with_last : 0);
}

/// If nobody else of this process will claim a chunk, its part is over.
void WriteDelivery::adapter_rests(Request& receive) {
  const Request::Shared& shared = receive.shared;
  if (receive.is_read_by_adapter() || receive.copying) return;  // `help` goes on from here
  const ChunkClaims::View view = ChunkClaims(parts_.job.transport->claims(receive.progress_slot)).view();
  const bool over = shared.refused || shared.has_hole() || shared.peer_done || all_taken(view, shared);
  if (!over) return;  // it is in `helping_`
  if (receive.work_link.linked) helping_.remove(&receive);
  if (shared.refused) return after_refusal(receive);
  own_part_read(receive, all_taken(view, shared) ? view.front : shared.chunks);
}

/// Nobody copies any more.
void WriteDelivery::finish_shared(Request& receive, std::uint64_t at_ns) {
  const Request::Shared& shared = receive.shared;
  ChunkClaims(parts_.job.transport->claims(receive.progress_slot)).close();
  if (!shared.has_hole()) {
    receive.offset = receive.limit;
    parts_.lines.on_read(receive);
    parts_.requests.finish(&receive, at_ns);
    return;
  }
  close(receive);
  receive.offset = shared.hole_begin;
  receive.stop = shared.hole_end;
  receive.way = shared.unreadable ? Request::Way::stream : Request::Way::undecided;
  parts_.begin_again(receive);
}

void WriteDelivery::close(Request& receive) {
  if (receive.shared.by_address) parts_.users.peers_have_written(ByteRange::of(receive.data, receive.limit));
  parts_.job.transport->close_progress_slot(receive.progress_slot);
  receive.progress_slot = NodeMemory::no_slot;
}

/// The fin was told of just now.
void WriteDelivery::sender_done(Request& receive) {
  receive.shared.peer_done = true;
  if (receive.copying) return;  // `help` goes on from here
  if (receive.work_link.linked) helping_.remove(&receive);
  if (receive.shared.own_part_done) {
    finish_shared(receive, trace::with_last);
  } else {
    own_part_read(receive, receive.shared.chunks);
  }
}

void WriteDelivery::refused(Request& receive, std::size_t offset) {
  note_fallback(parts_.statistics, receive, Fallback::write_refused);
  receive.offset = offset;
  receive.shared.refused = true;
  if (receive.copying) return;  // `help` goes on from here
  if (receive.work_link.linked) helping_.remove(&receive);
  after_refusal(receive);
}

/// Without its progress slot the transfer is not a write any more; it goes the next way, for what lies between the last chunk of
/// the sender's and the first of this side's. Not while the adapter brings some of these.
void WriteDelivery::after_refusal(Request& receive) {
  if (receive.is_read_by_adapter()) return;
  const Request::Shared& shared = receive.shared;
  ChunkClaims(parts_.job.transport->claims(receive.progress_slot)).close();
  close(receive);
  if (shared.has_hole()) {
    receive.stop = shared.hole_end;
  } else if (shared.back != 0) {
    receive.stop = shared.chunk_at(shared.chunks - shared.back);
  }
  parts_.begin_again(receive);
}

std::size_t WriteDelivery::missing_bytes(const Request& receive) const {
  const Request::Shared& shared = receive.shared;
  const std::size_t begin = parts_.job.transport->progress(receive.progress_slot);
  const std::size_t end = shared.back == 0 ? receive.stop : shared.chunk_at(shared.chunks - shared.back);
  const std::size_t coming = receive.is_read_by_adapter() ? receive.rdma->outstanding * shared.chunk_bytes : 0;
  return (end > begin ? end - begin : 0) + coming;
}

}  // namespace sluice
