#include "runtime/rendezvous/sender.hpp"

#include <memory>

#include "runtime/engine/eager.hpp"
#include "runtime/engine/trace_events.hpp"

namespace sluice {

/// A detached request with the message copied aside, for buffered mode and for small messages that are held back.
Request* Sender::copy_aside(Request& send) {
  Request* shadow = parts_.requests.new_send(*send.context, send.rank, send.tag, SendMode::standard, send.site);
  shadow->owned = std::make_unique_for_overwrite<std::byte[]>(send.bytes);
  pack(send, {shadow->owned.get(), send.bytes});
  shadow->data = shadow->owned.get();
  shadow->bytes = send.bytes;
  shadow->detached = true;
  shadow->traced = send.traced;
  shadow->traced_site = send.traced_site;
  shadow->told = shadow->shadow = true;
  return shadow;
}

void Sender::start(Request* send, AtOnce tried) {
  const bool is_held = parts_.causality.unmatched() != 0;
  parts_.statistics.bytes_sent += send->bytes;
  // What leaves at once is told of afterwards (Outbox::note_departure).
  if (trace::on() && (send->mode == SendMode::buffered || is_held)) [[unlikely]]
    trace::posted(*send);
  if (send->mode == SendMode::buffered) {
    Request* shadow = copy_aside(*send);
    shadow->mode = SendMode::buffered;
    parts_.requests.note_buffered(*shadow);
    parts_.requests.finish(send);
    send = shadow;
  }
  const bool may_be_announced = !is_held && is_eager(parts_.job, *send) && !send->has_gaps();
  const bool is_asked = tried == AtOnce::had_no_room || tried == AtOnce::is_for_one_copy;
  const bool one_copy = may_be_announced && (is_asked ? tried == AtOnce::is_for_one_copy
                                                      : parts_.small_sends.is_for_one_copy(send->peer, send->data, send->bytes));
  send->single_copy = one_copy && parts_.announcer.offers_block(*send);
  ++(is_eager(parts_.job, *send) ? parts_.statistics.eager_sends : parts_.statistics.rendezvous_sends);
  if (!is_held) return transmit(*send);
  ++parts_.statistics.held_sends;
  if (send->mode == SendMode::standard && is_eager(parts_.job, *send)) {
    Request* shadow = copy_aside(*send);
    parts_.requests.finish(send);
    send = shadow;
  }
  parts_.causality.hold({.what = HeldBack::What::send,
                         .operation = parts_.requests.next_operation(),
                         .request = send,
                         .peer = send->peer,
                         .traced = send->traced});
}

/// It is the next one to its peer.
void Sender::send_in_turn(Request& send) {
  if (!is_eager(parts_.job, send)) return parts_.announcer.announce(send);
  MessageHeader header = eager_header(send);
  parts_.small_sends.number(header, send.peer);
  if (send.frequent && parts_.outbox.is_free(send.peer) && parts_.frequent_sender.send(send, header)) {
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
