// What arrives, by kind; and what hangs on a match in other rooms.

#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/wire_check.hpp"

namespace sluice {

void Engine::State::on_message(Peer from, const MessageHeader& header, std::span<const std::byte> payload) {
  if (header.kind == MessageKind::eager) {
    put_receiver.before_matching(from, header.rtrs);
    return matcher.on_eager(from, header, payload);
  }
  if (header.kind == MessageKind::rts) {
    put_receiver.before_matching(from, header.rtrs);
    return matcher.on_announcement(from, header, payload);
  }
  const bool names_no_request =
      header.kind == MessageKind::rtr || header.kind == MessageKind::withdraw || header.kind == MessageKind::withdrawn;
  if (trace::on() && names_no_request) [[unlikely]]
    trace::control(trace::Kind::message_in, from, header.kind, payload.size());
  if (header.kind == MessageKind::rtr)
    return put_sender.on_ready_to_receive(from, header, from_wire<ReadyToReceive>(from, payload));
  if (header.kind == MessageKind::withdraw) return put_sender.on_withdraw(from, header.subject);
  if (header.kind == MessageKind::withdrawn) return put_receiver.on_withdrawn(from, header.subject);
  on_reply(from, header, payload);
}

MessageSink::Begun Engine::State::begin(Peer from, const MessageHeader& header, std::span<const std::byte> head) {
  return matcher.begin(from, header, head);
}

// --- what the matcher asks of the rest ---------------------------------------------------------------------------------

void Engine::State::MatchHost::leave_announcements(Request& receive) { state_.put_receiver.leave(receive); }

void Engine::State::MatchHost::begin_transfer(Request* receive, std::size_t coming) { state_.ways.begin(*receive, coming); }

}  // namespace sluice
