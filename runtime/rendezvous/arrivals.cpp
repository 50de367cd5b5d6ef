#include "runtime/rendezvous/arrivals.hpp"

#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/wire_check.hpp"

namespace sluice {

void Arrivals::on_message(Peer from, const WireHeader& header, std::span<const std::byte> payload) {
  if (header.kind == MessageKind::eager) {
    parts_.put_receiver.before_matching(from, header.rtrs);
    return parts_.matcher.on_eager(from, header, payload);
  }
  if (header.kind == MessageKind::rts) {
    parts_.put_receiver.before_matching(from, header.rtrs);
    return parts_.matcher.on_rts(from, header, payload);
  }
  const bool names_no_request =
      header.kind == MessageKind::rtr || header.kind == MessageKind::withdraw || header.kind == MessageKind::withdrawn;
  if (trace::on() && names_no_request) [[unlikely]]
    trace::control(trace::Kind::message_in, from, header.kind, payload.size());
  if (header.kind == MessageKind::rtr)
    return parts_.put_sender.on_ready_to_receive(from, header, from_wire<ReadyToReceive>(from, payload));
  if (header.kind == MessageKind::withdraw) return parts_.put_sender.on_withdraw(from, header.subject);
  if (header.kind == MessageKind::withdrawn) return parts_.put_receiver.on_withdrawn(from, header.subject);
  if (header.kind == MessageKind::fin && (header.flags & flag_announces) != 0) [[unlikely]]
    parts_.put_sender.expect_rtrs();
  parts_.replies.on_reply(from, header, payload);
}

void Arrivals::on_room(Peer peer) {
  parts_.stream_way.on_room();
  parts_.rdma_way.on_room();
  parts_.outbox.on_room(peer);
}

}  // namespace sluice
