#include "runtime/rendezvous/sender.hpp"

#include <memory>

#include "runtime/engine/eager.hpp"
#include "runtime/engine/trace_events.hpp"

namespace sluice {

/// A detached request with the message copied aside, for buffered mode and for small messages that are held back.
Request* Sender::make_detached_copy(Request& send) {
  Request* copy = parts_.requests.new_send(*send.context, send.rank, send.tag, SendMode::standard, send.site);
  copy->owned = std::make_unique_for_overwrite<std::byte[]>(send.bytes);
  pack(send, {copy->owned.get(), send.bytes});
  copy->data = copy->owned.get();
  copy->bytes = send.bytes;
  copy->detached = true;
  copy->traced = send.traced;
  copy->traced_site = send.traced_site;
  copy->post_traced = copy->detached_copy = true;
  return copy;
}

void Sender::start(Request* send, AtOnce tried) {
  const std::uint64_t call = send->sequence;  // of a collective call, which it is a part of and as old as; else 0
  const bool is_held = parts_.causality.unmatched() != 0 && (call == 0 || parts_.causality.must_hold(call));
  parts_.statistics.bytes_sent += send->bytes;
  // What leaves at once is told of afterwards (Outbox::note_departure).
  if (trace::on() && (send->mode == SendMode::buffered || is_held)) [[unlikely]]
    trace::posted(*send);
  if (send->mode == SendMode::buffered) {
    Request* copy = make_detached_copy(*send);
    copy->mode = SendMode::buffered;
    parts_.requests.note_buffered(*copy);
    parts_.requests.finish(send);
    send = copy;
  }
  const bool may_take_rts = !is_held && is_eager(parts_.job, *send) && !send->has_gaps();
  const bool is_asked = tried == AtOnce::had_no_room || tried == AtOnce::is_for_one_copy;
  const bool one_copy = may_take_rts && (is_asked ? tried == AtOnce::is_for_one_copy
                                                  : parts_.small_sends.is_for_one_copy(send->peer, send->data, send->bytes));
  send->single_copy = one_copy && parts_.rts_sender.offers_block(*send);
  ++(is_eager(parts_.job, *send) ? parts_.statistics.eager_sends : parts_.statistics.rendezvous_sends);
  if (!is_held) return transmit(*send);
  ++parts_.statistics.held_sends;
  if (send->mode == SendMode::standard && is_eager(parts_.job, *send)) {
    Request* copy = make_detached_copy(*send);
    parts_.requests.finish(send);
    send = copy;
  }
  parts_.causality.hold({.what = HeldBack::What::send,
                         .operation = call != 0 ? call : parts_.requests.next_operation(),
                         .request = send,
                         .peer = send->peer,
                         .traced = send->traced});
}

/// It is the next one to its peer.
void Sender::send_in_turn(Request& send) {
  if (!is_eager(parts_.job, send)) return parts_.rts_sender.send(send);
  WireHeader header = eager_header(send);
  parts_.small_sends.number(header, send.peer);
  if (send.frequent != 0 && parts_.outbox.is_free(send.peer) && parts_.frequent_sender.send(send, header)) {
    if (trace::on()) [[unlikely]]
      trace::posted(send, trace::post_gathered);
    parts_.outbox.note_departure(send, MessageKind::eager, header.payload_bytes);
    return;
  }
  const bool has_left = parts_.outbox.send_eager(send, header);
  parts_.outbox.note_departure(send, MessageKind::eager, header.payload_bytes);
  if (has_left) eager_sent(&send);
}

void Sender::eager_sent(Request* send) {
  if (send->mode == SendMode::synchronous) {
    send->expects = Request::Expects::acknowledgement;
  } else {
    parts_.requests.finish(send);
  }
}

}  // namespace sluice
