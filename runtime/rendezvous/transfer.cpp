// Large messages. The receiver chooses the way when it matches the announcement (rts):
//
//   write   (rput)  rts → ;  ← cts ;  sender stores into the receiver's alias block, reporting progress ;  fin →
//           (coop)  the same, and the receiver reads chunks from the end meanwhile (cooperative.cpp),
//                   and has the adapter read some (coop-hca, offload.cpp)
//   read    (rget)  rts → ;  receiver reads the sender's memory ;  ← fin
//   rdma            between processes that an adapter joins: rdma_protocol.hpp
//   stream          rts → ;  ← cts ;  data → … ; the receiver counts
//
// A way that fails in the middle leaves `offset` at the first missing byte, and the next way goes on from there: the sender of a
// `write` answers with refuse(offset), a failed reader just asks for the rest as a stream.
//
// States of a send:     announced → (cts write) copying → done | awaiting fin → done | (refuse) announced
//                       announced → (cts stream) streaming → done
//                       announced → (fin) done
// States of a receive:  matched → write → (fin) done | (refuse) matched
//                       matched → read → done | matched
//                       matched → stream → (last data) done
//
// Copies run outside the engine lock, a chunk at a time, in whichever thread progresses; Request::copying marks the owner.

#include <algorithm>

#include "runtime/base/fatal.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/wire_check.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

/// Pieces that go through Sluice's own memory stay in the cache between the two copies.
constexpr std::size_t bounce_bytes = 32 * 1024;
/// Shorter through a ring: the receiver copies the first piece out while the sender fills the next.
constexpr std::size_t piece_bytes = bounce_bytes / 2;
/// A question to the kernel (cross-memory attach) costs more than to look whether the block lives. 20 KB gathered from one rank
/// 4.1 µs and 3.0, there and back 8.6 and 4.3. Smaller messages are seldom announced.
constexpr std::size_t least_offered_bytes = 16 * 1024;
/// What a transport that streams out of the sender's memory is given at a time.
constexpr std::size_t most_streamed_bytes = 128 * 1024;
/// A stream yields to other work after this many messages.
constexpr int stream_burst = 4;

using Bounce = std::unique_ptr<std::byte[]>;

}  // namespace

std::size_t Engine::State::pack_at(const Request& send, std::size_t offset, std::span<std::byte> target) {
  if (send.has_gaps()) {
    LayoutCursor cursor(send.layout_buffer);
    cursor.seek(offset);
    return cursor.pack(target);
  }
  copy_from_user(target.data(), send.source() + offset, target.size());
  return target.size();
}

bool Engine::State::in_alias_block(ByteRange range, BufferHistory::Use use, OperationTime time, AliasArena::Purpose purpose) {
  if (!arena) return false;
  if (arena->is_live(range, time)) {
    if (use == BufferHistory::Use::by_adapter) history.came_back(range);
    return true;
  }
  // An adapter uses it already: of messages that overlap in time, only the first counts, as no other can have the block.
  if (registrations && registrations->pins(PageRange::covering(range))) return false;
  if (!history.use(range, use)) return false;
  // While a thread is being made, the C library blocks every signal in it, and the host may have lent the memory to peers: with
  // the next use, then.
  if ((guard && !PageGuard::holds_writers_up()) || (host.may_reach_memory && host.may_reach_memory())) {
    history.earn(range);
    return false;
  }
  held_signals::hold();
  return migrate(range, purpose);
}

bool Engine::State::offers_block(const Request& send) {
  return send.bytes >= least_offered_bytes && send.peer != self && !send.has_gaps() && !send.owned &&
         transport->can_read_blocks(send.peer) &&
         in_alias_block(ByteRange::of(send.data, send.bytes), BufferHistory::Use::copied, {}, AliasArena::Purpose::sent);
}

bool Engine::State::can_read_from(const Request& receive) const {
  if ((receive.rts_flags & flag_contiguous) == 0) return false;
  if ((receive.rts_flags & flag_block) != 0) return transport->can_read_blocks(receive.peer);
  return receive.peer == self || (transport->can_read(receive.peer) && !kernel_waits_for_pages());
}

void Engine::State::note_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason, std::uint64_t at_ns) {
  if (!trace::on()) [[likely]]
    return;
  tell_match();
  const Rendezvous wanted = receive.context->rendezvous.value_or(config.rendezvous);
  const bool asked = wanted != Rendezvous::automatic && name_of(wanted) == trace::name_of(protocol);
  trace::chosen(receive, protocol, asked ? trace::Reason::asked_for : reason, at_ns);
}

std::uint64_t Engine::State::tell_match() {
  if (!untold_match.receive) return 0;
  trace::matched(*untold_match.receive, MessageKind::rts, untold_match.number, untold_match.unexpected);
  untold_match = {};
  return trace::with_last;
}

void Engine::State::note_progress(const Request& request) {
  if (trace::on()) [[unlikely]]
    trace::progressed(request, request.offset);
}

void Engine::State::begin_transfer(Request* receive, std::size_t coming) {
  receive->matched = true;
  receive->sends_too = pending_sends != gathered_sends;
  receive->sends_before = large_sends;
  if (receive->offset + coming == receive->stop) {
    answer(*receive, MessageKind::fin);
    note_choice(*receive, trace::Protocol::stream, trace::Reason::brought_along, trace::with_last);
    if (coming == 0) finish(receive);
    return;
  }
  using Way = Request::Way;
  if (receive->way == Way::undecided && begin_rdma(*receive)) return;
  end_expected_copies(*receive);
  message_lines.on_match(*receive);
  const bool writable = receive->way < Way::write && receive->peer != self && transport->can_write(receive->peer);
  const bool readable = can_read_from(*receive);
  const OperationTime time{.begun = receive->sequence, .latest = operations};
  const CopyChoice choice =
      writable && readable ? choose_copier(*receive) : CopyChoice{Copier::sender, trace::Reason::sender_copies};
  if (writable && choice.copier != Copier::receiver && !receive->has_gaps() &&
      (receive->released || in_alias_block(ByteRange::of(receive->data, receive->limit), BufferHistory::Use::copied, time))) {
    receive->progress_slot = transport->open_progress_slot();
    if (receive->progress_slot != Transport::no_slot) receive->way = Way::write;
  }
  if (receive->way == Way::write && receive->progress_slot == Transport::no_slot) receive->way = Way::undecided;
  if (receive->way == Way::undecided && readable) {
    receive->way = Way::read;
    copies.push_back(receive);
    if (receive->peer != self) expect_copies(*receive, Copier::receiver);
    note_choice(*receive, trace::Protocol::rget, choice.copier == Copier::receiver ? choice.reason : trace::Reason::only_way);
    return;
  }
  if (receive->way == Way::undecided) receive->way = Way::stream;
  ClearToSend clear;
  clear.receiver_request = static_cast<std::uint64_t>(receive->id);
  clear.remote_address = reinterpret_cast<std::uint64_t>(receive->data);
  clear.offset = receive->offset + coming;
  clear.limit = receive->stop;
  clear.delivery = receive->way == Way::write ? Delivery::write : Delivery::stream;
  clear.progress_slot = receive->progress_slot;
  clear.outer = may_stay_in_outer_cache(*receive) ? 1 : 0;
  std::uint8_t flags = 0;
  if (receive->way == Way::write) {
    open_chunks(*receive, clear, choice.copier == Copier::both);
    expect_copies(*receive, receive->shared.own_part_done ? Copier::sender : Copier::both);
    receive->shared.if_idle = choice.if_idle && !receive->shared.own_part_done;
    if (receive->shared.if_idle) flags = flag_if_idle;
  }
  ++(receive->way == Way::write ? statistics.written : statistics.streamed);
  answer(*receive, MessageKind::cts, std::as_bytes(std::span(&clear, 1)), flags);
  if (receive->way == Way::stream) {
    note_choice(*receive, trace::Protocol::stream, trace::Reason::only_way, trace::with_last);
  } else {
    using trace::Protocol;
    const Request::Shared& shared = receive->shared;
    const bool alone = shared.own_part_done;
    note_choice(*receive, alone ? Protocol::rput : (shared.offloads ? Protocol::coop_hca : Protocol::coop),
                alone && choice.copier == Copier::both ? trace::Reason::sender_copies : choice.reason, trace::with_last);
    if (shared.offloads) offload_chunks(*receive);
  }
}

void Engine::State::on_clear_to_send(Request* send, const ClearToSend& clear) {
  if (const char* fault = clearance_fault(*send, clear)) {
    fatal("rank %d %s: bytes %zu to %zu of a message of %zu bytes", static_cast<int>(send->peer), fault,
          static_cast<std::size_t>(clear.offset), static_cast<std::size_t>(clear.limit), send->bytes);
  }
  if (clear.delivery == Delivery::rdma_write) {
    send->remote_request = clear.receiver_request;
    send->offset = clear.offset;
    send->limit = clear.limit;
    on_clear_to_write(*send, clear);
    return;
  }
  // Of a delivery in which the receiver was faster with all chunks, but could not read the last.
  if (send->work_link.linked) copies.remove(send);
  send->remote_request = clear.receiver_request;
  send->remote_address = clear.remote_address;
  send->offset = clear.offset;
  send->limit = clear.limit;
  send->progress_slot = clear.progress_slot;
  send->lines = clear.outer != 0 ? TargetLines::outer : TargetLines::unknown;
  if (clear.delivery == Delivery::write) {
    send->way = Request::Way::write;
    join_chunks(*send, clear);
    copies.push_back(send);
  } else {
    send->way = Request::Way::stream;
    streams.push_back(send);
    streams_wait = false;
  }
}

std::size_t Engine::State::push_copied(const Request& send, std::size_t most) {
  const std::size_t room = send.peer == self ? bounce_bytes : std::min(piece_bytes, transport->max_payload(send.peer));
  const std::size_t bytes = std::min(room, most);
  std::byte* target = reserve(send.peer, bytes);
  if (!target) return 0;
  pack_at(send, send.offset, {target, bytes});
  MessageHeader header;
  header.kind = MessageKind::data;
  header.payload_bytes = static_cast<std::uint32_t>(bytes);
  header.subject = send.remote_request;
  commit(send.peer, header);
  return bytes;
}

/// Under the lock, so that nothing comes under guard while the kernel reads.
std::size_t Engine::State::push_directly(const Request& send, std::size_t most) {
  std::size_t bytes = std::min(most, most_streamed_bytes);
  const std::byte* source = send.has_gaps() ? nullptr : unguarded_address(send.data + send.offset, bytes);
  Bounce bounce;
  if (!source) {
    bytes = std::min(bytes, bounce_bytes);
    bounce = std::make_unique_for_overwrite<std::byte[]>(bytes);
    pack_at(send, send.offset, {bounce.get(), bytes});
    source = bounce.get();
  }
  return transport->stream(send.peer, send.remote_request, {source, bytes});
}

bool Engine::State::push_streams() {
  if (streams_wait) return false;
  bool moved = false;
  Request* next = nullptr;
  for (Request* send = streams.first(); send; send = next) {
    next = decltype(streams)::next(send);
    for (int burst = 0; burst < stream_burst && send->offset < send->limit; ++burst) {
      const bool directly = send->peer != self && transport->streams_directly(send->peer);
      const std::size_t left = send->limit - send->offset;
      const std::size_t bytes = directly ? push_directly(*send, left) : push_copied(*send, left);
      if (bytes == 0) break;
      send->offset += bytes;
      moved = true;
      if (send->offset < send->limit) note_progress(*send);
    }
    if (send->offset == send->limit) {
      streams.remove(send);
      finish(send);
    }
  }
  streams_wait = !moved && !streams.empty();
  return moved;
}

/// Messages of others take turns with those of a peer.
Request* Engine::State::first_of_peer(const WorkList& list, Peer peer) {
  constexpr int most_looked_at = 16;
  int looked_at = 0;
  for (Request* other = list.first(); other && looked_at < most_looked_at; other = WorkList::next(other), ++looked_at) {
    if (other->peer == peer) return other;
  }
  return nullptr;
}

/// In which order, rendezvous/cooperative.cpp says. nullptr: at the end.
Request* Engine::State::place_of_new(const WorkList& list, const Request& request) {
  Request* other = first_of_peer(list, request.peer);
  return other && other->data != request.data ? other : nullptr;
}

Request* Engine::State::place_again(const WorkList& list, const Request& request) const {
  Request* other = first_of_peer(list, request.peer);
  const bool takes_turns = other && other->data == request.data && message_lines.leave_own_cache(request.limit);
  return takes_turns ? nullptr : other;
}

bool Engine::State::run_copy(Lock& lock) {
  Request* request = copies.pop_front();
  if (!request) return false;
  if (request->kind == Request::Kind::send) {
    write_chunk(lock, request);
  } else {
    read_chunk(lock, request);
  }
  return true;
}

void Engine::State::write_chunk(Lock& lock, Request* send) {
  if (!claim_for_writing(*send)) {
    own_part_written(send);
    return;
  }
  send->copying = true;
  ++busy_copies;
  const std::size_t end = std::min<std::size_t>(send->offset + send->shared.chunk_bytes, send->limit);
  bool written = true;
  while (written && send->offset < end) written = write_piece(lock, send, end - send->offset);
  send->copying = false;
  --busy_copies;
  if (!written) {
    send->way = Request::Way::undecided;
    const Refusal refusal{send->offset};
    answer(*send, MessageKind::refuse, std::as_bytes(std::span(&refusal, 1)));
  } else if (all_claimed(*send)) {
    own_part_written(send);
  } else {
    copies.insert_before(place_again(copies.in_order(), *send), send);
    note_progress(*send);
  }
}

/// The next piece of a claimed chunk, up to `most` bytes of it.
bool Engine::State::write_piece(Lock& lock, Request* send, std::size_t most) {
  const std::byte* source = nullptr;
  std::size_t bytes = most;
  Bounce bounce;
  if (send->alias) {
    source = send->alias + send->offset;
  } else if (!send->has_gaps()) {
    source = unguarded_address(send->data + send->offset, bytes);
  }
  if (!source) {
    bytes = std::min(bytes, bounce_bytes);
    bounce = std::make_unique_for_overwrite<std::byte[]>(bounce_bytes);
    pack_at(*send, send->offset, {bounce.get(), bytes});
    source = bounce.get();
  }
  StoreTrial trial(send->lines, message_lines.of_writing(send->peer));
  lock.unlock();
  const bool written = transport->write(send->peer, send->remote_address + send->offset, {source, bytes}, trial.lines());
  trial.stop();
  if (written) transport->report_progress(send->peer, send->progress_slot, send->offset + bytes);
  lock.lock();
  if (written) trial.keep(bytes);
  if (!written) return false;
  send->offset += bytes;
  count_copied(bytes);
  return true;
}

/// Out of the sender's memory file if it offered its block, otherwise by cross-memory attach. What was offered as a block is
/// never read by its address: the sender may have released it, and something else may be there.
std::size_t Engine::State::fetch(const Request& receive, std::size_t offset, std::span<std::byte> target,
                                 TargetLines lines) const {
  const std::uint64_t source = receive.remote_address + offset;
  if ((receive.rts_flags & flag_block) == 0) return transport->read(receive.peer, source, target);
  return transport->read_block(receive.peer, source, target, lines, receive.source_lines) ? target.size() : 0;
}

/// Cross-memory attach cannot wait at a page that is under guard. Such a page holds a part of another message as well: of a row
/// that is received beside one that is sent. That says nothing about the peer, of which other messages are read.
Fallback Engine::State::why_short(const Request& receive) const {
  const bool by_address = (receive.rts_flags & flag_block) == 0;
  return by_address && transport->can_read(receive.peer) ? Fallback::page_closed : Fallback::read_refused;
}

std::uint8_t Engine::State::fin_flags(const Request& receive) {
  return receive.source_lines == SourceLines::handed_back ? flag_handed_back : 0;
}

std::size_t Engine::State::read_piece(Lock& lock, Request& receive, std::size_t offset, std::size_t bytes) {
  std::byte* const user = receive.data + offset;
  std::byte* target = receive.released ? arena->alias(reinterpret_cast<std::uintptr_t>(user)) : unguarded_address(user, bytes);
  Bounce bounce;
  if (!target) {
    bounce = std::make_unique_for_overwrite<std::byte[]>(bytes);
    target = bounce.get();
  }
  StoreTrial trial(receive.lines, message_lines.of_reading(receive.peer));
  lock.unlock();
  const std::size_t arrived = fetch(receive, offset, {target, bytes}, trial.lines());
  trial.stop();
  lock.lock();
  if (arrived == bytes) trial.keep(bytes);
  if (bounce) copy_to_user(user, target, arrived);
  return arrived;
}

void Engine::State::read_chunk(Lock& lock, Request* receive) {
  receive->copying = true;
  ++busy_copies;
  const std::size_t missing = receive->stop - receive->offset;
  std::size_t wanted = std::min(chunk_bytes, missing);
  std::size_t arrived = 0;
  if (receive->peer == self) {
    // Both sides are the application's memory: under the lock, where the guard cannot change in between.
    auto* source = reinterpret_cast<std::byte*>(receive->remote_address + receive->offset);
    Bounce bounce;
    if (user_memory_is_guarded(ByteRange::of(source, wanted))) {
      wanted = std::min(wanted, bounce_bytes);
      bounce = std::make_unique_for_overwrite<std::byte[]>(wanted);
      copy_from_user(bounce.get(), source, wanted);
      source = bounce.get();
    }
    deliver(*receive, {source, wanted});
    arrived = wanted;
  } else if (receive->has_gaps()) {
    wanted = std::min(wanted, bounce_bytes);
    const Bounce bounce = std::make_unique_for_overwrite<std::byte[]>(wanted);
    lock.unlock();
    arrived = fetch(*receive, receive->offset, {bounce.get(), wanted}, TargetLines::unknown);
    lock.lock();
    deliver(*receive, {bounce.get(), arrived});
  } else {
    arrived = read_piece(lock, *receive, receive->offset, wanted);
    receive->offset += arrived;
  }
  if (receive->peer != self) count_copied(arrived);
  receive->copying = false;
  --busy_copies;
  if (arrived < wanted) {
    fall_back(*receive, why_short(*receive));
    receive->way = Request::Way::stream;
    begin_transfer(receive);
    return;
  }
  if (receive->offset < receive->stop) {
    copies.push_back(receive);
    note_progress(*receive);
    return;
  }
  ++statistics.read;
  if (receive->peer != self) ++statistics.copies;
  message_lines.on_read(*receive);
  answer(*receive, MessageKind::fin, {}, fin_flags(*receive));
  finish(receive, trace::with_last);
}

}  // namespace sluice
