#include "runtime/rendezvous/node_way.hpp"

#include <algorithm>

#include "runtime/engine/delivery.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/guard/user_memory.hpp"
#include "runtime/rendezvous/packing.hpp"

namespace sluice {

NodeWay::NodeWay(const NodeParts& parts)
    : parts_(parts),
      list_(parts.job.size),
      copies_({parts.job.transport, parts.job.transport, parts.job.arena, parts.lines, parts.statistics}),
      delivery_(parts, copies_) {}

// --- the choice --------------------------------------------------------------------------------------------------------

bool NodeWay::can_read_from(const Request& receive) const {
  if ((receive.rts_flags & flag_contiguous) == 0) return false;
  if ((receive.rts_flags & flag_block) != 0) return parts_.job.transport->can_read_blocks(receive.peer);
  return receive.peer == parts_.job.self ||
         (parts_.job.transport->can_read(receive.peer) && !parts_.users.kernel_waits(parts_.blocks));
}

/// By its sender, as far as is known.
bool NodeWay::can_be_written(const Request& receive) const {
  const bool is_tried = receive.way != Request::Way::undecided;
  return !is_tried && receive.peer != parts_.job.self && parts_.job.transport->can_write(receive.peer);
}

/// At large, by its sender. Not what is released: it arrives behind the guard.
bool NodeWay::can_be_written_at(const Request& receive) const {
  const bool is_tried = receive.way != Request::Way::undecided;
  return !is_tried && (receive.rts_flags & flag_writes_at) != 0 && !receive.has_gaps() && !receive.released;
}

Bid NodeWay::bid(const Request& receive, std::size_t /*coming*/) const {
  const bool is_tried = receive.way != Request::Way::undecided && receive.way != Request::Way::write;
  const bool is_possible = can_be_written(receive) || can_be_written_at(receive) || can_read_from(receive);
  return !is_tried && is_possible ? Bid{1} : Bid{};
}

bool NodeWay::begin(Request& receive, std::size_t /*coming*/) {
  parts_.copiers.end_expected(receive);
  parts_.lines.on_match(receive);
  const bool writable = can_be_written(receive) || can_be_written_at(receive);
  const bool readable = can_read_from(receive);
  const CopyChoice choice =
      writable && readable ? parts_.copiers.choose(receive) : CopyChoice{Copier::sender, trace::Reason::sender_copies};
  if (writable && choice.copier != Copier::receiver && begin_write(receive, choice)) return true;
  if (readable) begin_read(receive, choice);
  return readable;
}

void NodeWay::begin_read(Request& receive, const CopyChoice& choice) {
  receive.way = Request::Way::read;
  list_.push_back(&receive);
  if (receive.peer != parts_.job.self) parts_.copiers.expect(receive, Copier::receiver);
  const auto reason = choice.copier == Copier::receiver ? choice.reason : trace::Reason::only_way;
  parts_.matches.chosen(receive, trace::Protocol::rget, reason);
}

/// Or has become one now.
bool NodeWay::is_block(const Request& receive) {
  return parts_.blocks.use(ByteRange::of(receive.data, receive.limit), BufferHistory::Use::copied,
                           {.begun = receive.sequence, .latest = parts_.requests.counts().operations});
}

/// Where a page of it is a block, that page may come under guard, or its mapping may be replaced.
bool NodeWay::may_be_written_at(Request& receive, const CopyChoice& choice) {
  return can_be_written_at(receive) && !parts_.blocks.hold_some_of(ByteRange::of(receive.data, receive.limit)) &&
         parts_.copiers.writes_at(receive, choice);
}

bool NodeWay::begin_write(Request& receive, const CopyChoice& choice) {
  if (receive.has_gaps()) return false;
  const bool into_file = can_be_written(receive) && (receive.released || is_block(receive));
  if (!into_file && !may_be_written_at(receive, choice)) return false;
  if (!delivery_.begin(receive)) return false;
  ClearToSend clear;
  clear.receiver_request = static_cast<std::uint64_t>(receive.id);
  clear.remote_address = reinterpret_cast<std::uint64_t>(receive.data);
  clear.offset = receive.offset;
  clear.limit = receive.stop;
  clear.delivery = into_file ? Delivery::write : Delivery::write_at;
  clear.outer = into_file && parts_.copiers.may_stay_in_outer_cache(receive) ? 1 : 0;
  delivery_.open_chunks(receive, clear, choice.copier == Copier::both);
  Request::Shared& shared = receive.shared;
  parts_.copiers.expect(receive, shared.own_part_done ? Copier::sender : Copier::both);
  shared.if_idle = choice.if_idle && !shared.own_part_done;
  ++parts_.statistics.written;
  if (!into_file) ++parts_.statistics.written_at;
  parts_.outbox.answer(receive, MessageKind::cts, std::as_bytes(std::span(&clear, 1)),
                       shared.if_idle ? flag_if_idle : std::uint8_t{0});
  tell_write(receive, choice);
  if (shared.offloads) parts_.adapter.claim(receive);
  return true;
}

void NodeWay::tell_write(const Request& receive, const CopyChoice& choice) {
  using trace::Protocol;
  const bool alone = receive.shared.own_part_done;
  const auto both = receive.shared.offloads ? Protocol::coop_hca : Protocol::coop;
  const auto reason = alone && choice.copier == Copier::both ? trace::Reason::sender_copies : choice.reason;
  parts_.matches.chosen(receive, alone ? Protocol::rput : both, reason, trace::with_last);
}

// --- messages of the other side ------------------------------------------------------------------------------------------

void NodeWay::cleared(Request& send, const ClearToSend& clear) {
  note_clearance(send, clear);
  send.lines = clear.outer != 0 ? TargetLines::outer : TargetLines::unknown;
  send.way = Request::Way::write;
  delivery_.join(send, clear);
  list_.push_back(&send);
}

/// Of a delivery in which the receiver was faster with all chunks, but could not read the last.
void NodeWay::leave(Request& send) {
  if (send.work_link.linked) list_.remove(&send);
}

bool NodeWay::ended(Request& request) {
  if (request.way != Request::Way::write) return false;
  if (!request.is_send()) {
    delivery_.sender_done(request);
    return true;
  }
  const bool is_listed = request.work_link.linked;
  if (is_listed) list_.remove(&request);
  delivery_.receiver_done(request, is_listed);
  return true;
}

// --- copies --------------------------------------------------------------------------------------------------------------

void NodeWay::work(Lock& lock) {
  Request& request = *list_.pop_front();
  request.is_send() ? write_chunk(lock, request) : read_chunk(lock, request);
}

void NodeWay::write_chunk(Lock& lock, Request& send) {
  if (!delivery_.write_chunk(lock, send)) return;
  const bool leave_cache = parts_.lines.leave_own_cache(send.limit);
  list_.insert_before(place_again(list_.in_order(), send, leave_cache), &send);
  if (trace::on()) [[unlikely]]
    trace::progressed(send, send.offset);
}

void NodeWay::read_chunk(Lock& lock, Request& receive) {
  std::size_t wanted = std::min(parts_.job.chunk_bytes, receive.stop - receive.offset);
  std::size_t arrived = 0;
  {
    const NodeCopies::Turn turn(copies_, receive);
    if (receive.peer == parts_.job.self) {
      arrived = wanted = copy_from_self(receive, wanted);
    } else if (receive.has_gaps()) {
      wanted = std::min(wanted, bounce_bytes);
      arrived = read_into_gaps(lock, receive, wanted);
    } else {
      arrived = copies_.read(lock, receive, receive.offset, wanted);
      receive.offset += arrived;
    }
  }
  if (arrived < wanted) {
    note_fallback(parts_.statistics, receive, copies_.why_short(receive));
    receive.way = Request::Way::stream;
    parts_.begin_again(receive);
    return;
  }
  if (receive.offset < receive.stop) {
    list_.push_back(&receive);
    if (trace::on()) [[unlikely]]
      trace::progressed(receive, receive.offset);
    return;
  }
  ++parts_.statistics.read;
  if (receive.peer != parts_.job.self) ++parts_.statistics.copies;
  parts_.lines.on_read(receive);
  parts_.outbox.answer(receive, MessageKind::fin, {}, fin_flags(receive));
  parts_.requests.finish(&receive, trace::with_last);
}

/// Both sides are the application's memory: under the lock, where the guard cannot change in between. How many bytes.
std::size_t NodeWay::copy_from_self(Request& receive, std::size_t bytes) {
  auto* source = reinterpret_cast<std::byte*>(receive.remote_address + receive.offset);
  Bounce bounce;
  if (user_memory_is_guarded(ByteRange::of(source, bytes))) {
    bytes = std::min(bytes, bounce_bytes);
    bounce = std::make_unique_for_overwrite<std::byte[]>(bytes);
    copy_from_user(bounce.get(), source, bytes);
    source = bounce.get();
  }
  deliver(receive, {source, bytes}, parts_.job.arena);
  return bytes;
}

std::size_t NodeWay::read_into_gaps(Lock& lock, Request& receive, std::size_t bytes) {
  const Bounce bounce = std::make_unique_for_overwrite<std::byte[]>(bytes);
  const std::size_t arrived = copies_.fetch(lock, receive, receive.offset, {bounce.get(), bytes});
  deliver(receive, {bounce.get(), arrived}, parts_.job.arena);
  return arrived;
}

}  // namespace sluice
