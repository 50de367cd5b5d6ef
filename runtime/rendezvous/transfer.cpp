// Large messages, as the engine's inside hears of them: what is checked and counted before the ways (ways.hpp) are asked.

#include "runtime/base/fatal.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/wire_check.hpp"

namespace sluice {

void Engine::State::note_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason, std::uint64_t at_ns) {
  if (!trace::on()) [[likely]]
    return;
  tell_match();
  const Rendezvous wanted = receive.context->rendezvous.value_or(job.config.rendezvous);
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
  receive->sends_too = all_requests.counts().pending_sends != frequent_sender.under_way();
  receive->sends_before = all_requests.counts().large_sends;
  ways.begin(*receive, coming);
}

void Engine::State::on_clear_to_send(Request* send, const ClearToSend& clear) {
  if (const char* fault = clearance_fault(*send, clear)) {
    fatal("rank %d %s: bytes %zu to %zu of a message of %zu bytes", static_cast<int>(send->peer), fault,
          static_cast<std::size_t>(clear.offset), static_cast<std::size_t>(clear.limit), send->bytes);
  }
  ways.cleared(*send, clear);
}

/// All of it, or the part of a cooperative copy that the receiver made.
void Engine::State::note_read_by_peer(const Request& send, bool handed_back) {
  if (send.peer == job.self || send.owned || send.has_gaps() || !job.transport->can_read_blocks(send.peer)) return;
  message_lines.on_read_by_peer(send, handed_back);
}

void Engine::State::on_refuse(Request* receive, std::size_t offset) {
  if (const char* fault = refusal_fault(*receive, offset)) fatal("rank %d %s", static_cast<int>(receive->peer), fault);
  ways.refused(*receive, offset);
}

}  // namespace sluice
