// Large messages: which way they take when they are matched, and who hears of what arrives for them. The receiver chooses, in
// this order: an adapter (rdma_protocol.hpp), single copies inside the node (node_way.hpp), a stream (stream_way.hpp), which is
// always possible. A way that fails in the middle leaves `offset` at the first missing byte, and the next one goes on from there.

#include "runtime/base/fatal.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/wire_check.hpp"

namespace sluice {

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
  if (receive->way == Request::Way::undecided && begin_rdma(*receive)) return;
  if (!node_way.begin(*receive)) stream_way.begin(*receive, coming);
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
  if (send->work_link.linked) node_way.leave(*send);
  clear.delivery == Delivery::write ? node_way.cleared(*send, clear) : stream_way.cleared(*send, clear);
}

/// All of it, or the part of a cooperative copy that the receiver made.
void Engine::State::note_read_by_peer(const Request& send, bool handed_back) {
  if (send.peer == self || send.owned || send.has_gaps() || !transport->can_read_blocks(send.peer)) return;
  message_lines.on_read_by_peer(send, handed_back);
}

/// The fin was told of just now.
void Engine::State::on_fin(Request* request, std::uint8_t flags) {
  if (request->is_send()) note_read_by_peer(*request, (flags & flag_handed_back) != 0);
  if (node_way.ended(*request)) return;
  if ((flags & flag_of_chunks) != 0) return;  // crossed this side's refusal
  request->offset = request->limit;
  finish(request, trace::with_last);
}

void Engine::State::on_refuse(Request* receive, std::size_t offset) {
  if (const char* fault = refusal_fault(*receive, offset)) fatal("rank %d %s", static_cast<int>(receive->peer), fault);
  receive->way == Request::Way::rdma ? on_refused_rdma(*receive) : node_way.refused(*receive, offset);
}

}  // namespace sluice
