#include "runtime/rendezvous/node_way.hpp"

#include <algorithm>

#include "runtime/engine/trace_events.hpp"
#include "runtime/guard/user_memory.hpp"
#include "runtime/rendezvous/packing.hpp"

namespace sluice {

NodeWay::NodeWay(NodeHost& host, const Parts& parts)
    : host_(host),
      parts_(parts),
      list_(parts.job_size),
      copies_({parts.memory, parts.hints, parts.arena, parts.lines, parts.statistics}),
      delivery_(host, {parts.memory, copies_, parts.lines, parts.statistics, parts.adapter, parts.chunk_bytes}) {}

// --- the choice --------------------------------------------------------------------------------------------------------

bool NodeWay::can_read_from(const Request& receive) const {
  if ((receive.rts_flags & flag_contiguous) == 0) return false;
  if ((receive.rts_flags & flag_block) != 0) return parts_.memory->can_read_blocks(receive.peer);
  return receive.peer == parts_.self || (parts_.memory->can_read(receive.peer) && !host_.kernel_waits_for_pages());
}

/// By its sender, as far as is known.
bool NodeWay::can_be_written(const Request& receive) const {
  const bool is_tried = receive.way != Request::Way::undecided;
  return !is_tried && receive.peer != parts_.self && parts_.memory->can_write(receive.peer);
}

Bid NodeWay::bid(const Request& receive, std::size_t /*coming*/) const {
  const bool is_tried = receive.way != Request::Way::undecided && receive.way != Request::Way::write;
  return !is_tried && (can_be_written(receive) || can_read_from(receive)) ? Bid{1} : Bid{};
}

bool NodeWay::begin(Request& receive, std::size_t /*coming*/) {
  parts_.copiers.end_expected(receive);
  parts_.lines.on_match(receive);
  const bool writable = can_be_written(receive);
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
  if (receive.peer != parts_.self) parts_.copiers.expect(receive, Copier::receiver);
  const auto reason = choice.copier == Copier::receiver ? choice.reason : trace::Reason::only_way;
  host_.tell_choice(receive, trace::Protocol::rget, reason, 0);
}

bool NodeWay::begin_write(Request& receive, const CopyChoice& choice) {
  if (receive.has_gaps() || !(receive.released || host_.is_block(receive)) || !delivery_.begin(receive)) return false;
  ClearToSend clear;
  clear.receiver_request = static_cast<std::uint64_t>(receive.id);
  clear.remote_address = reinterpret_cast<std::uint64_t>(receive.data);
  clear.offset = receive.offset;
  clear.limit = receive.stop;
  clear.delivery = Delivery::write;
  clear.outer = parts_.copiers.may_stay_in_outer_cache(receive) ? 1 : 0;
  delivery_.open_chunks(receive, clear, choice.copier == Copier::both);
  Request::Shared& shared = receive.shared;
  parts_.copiers.expect(receive, shared.own_part_done ? Copier::sender : Copier::both);
  shared.if_idle = choice.if_idle && !shared.own_part_done;
  ++parts_.statistics.written;
  host_.answer(receive, MessageKind::cts, std::as_bytes(std::span(&clear, 1)), shared.if_idle ? flag_if_idle : std::uint8_t{0});
  tell_write(receive, choice);
  if (shared.offloads) parts_.adapter.claim(receive);
  return true;
}

void NodeWay::tell_write(const Request& receive, const CopyChoice& choice) {
  using trace::Protocol;
  const bool alone = receive.shared.own_part_done;
  const auto both = receive.shared.offloads ? Protocol::coop_hca : Protocol::coop;
  const auto reason = alone && choice.copier == Copier::both ? trace::Reason::sender_copies : choice.reason;
  host_.tell_choice(receive, alone ? Protocol::rput : both, reason, trace::with_last);
}

// --- messages of the other side ------------------------------------------------------------------------------------------

void NodeWay::cleared(Request& send, const ClearToSend& clear) {
  send.remote_request = clear.receiver_request;
  send.remote_address = clear.remote_address;
  send.offset = clear.offset;
  send.limit = clear.limit;
  send.progress_slot = clear.progress_slot;
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
  std::size_t wanted = std::min(parts_.chunk_bytes, receive.stop - receive.offset);
  std::size_t arrived = 0;
  {
    const NodeCopies::Turn turn(copies_, receive);
    if (receive.peer == parts_.self) {
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
    host_.fall_back(receive, copies_.why_short(receive));
    receive.way = Request::Way::stream;
    host_.begin_again(receive);
    return;
  }
  if (receive.offset < receive.stop) {
    list_.push_back(&receive);
    if (trace::on()) [[unlikely]]
      trace::progressed(receive, receive.offset);
    return;
  }
  ++parts_.statistics.read;
  if (receive.peer != parts_.self) ++parts_.statistics.copies;
  parts_.lines.on_read(receive);
  host_.answer(receive, MessageKind::fin, {}, fin_flags(receive));
  host_.finish(receive, trace::with_last);
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
  host_.deliver(receive, {source, bytes});
  return bytes;
}

std::size_t NodeWay::read_into_gaps(Lock& lock, Request& receive, std::size_t bytes) {
  const Bounce bounce = std::make_unique_for_overwrite<std::byte[]>(bytes);
  const std::size_t arrived = copies_.fetch(lock, receive, receive.offset, {bounce.get(), bytes});
  host_.deliver(receive, {bounce.get(), arrived});
  return arrived;
}

}  // namespace sluice
