// What comes for one request of this process: answers to its messages, and the bytes that it asked for.

#include <algorithm>

#include "runtime/base/clock.hpp"
#include "runtime/engine/state.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/wire_check.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {

void Engine::State::note_answer(Request& send) {
  if (send.announced_at == 0) return;
  budgets[static_cast<std::size_t>(send.peer)].answered(send.brought, now_ns() - send.announced_at);
  send.announced_at = 0;
}

Request* Engine::State::named_request(Peer from, const MessageHeader& header) {
  Request* request = all_requests.find(static_cast<RequestId>(header.subject));
  if (!request) damaged(from, header.kind, "names no operation of this process");
  if (const char* fault = reply_fault(*request, from, header)) damaged(from, header.kind, fault);
  return request;
}

void Engine::State::on_reply(Peer from, const MessageHeader& header, std::span<const std::byte> payload) {
  Request* request = named_request(from, header);
  if (trace::on()) [[unlikely]]
    trace::answer_came(*request, header.kind, payload.size());
  if (request->is_send()) note_answer(*request);
  switch (header.kind) {
    case MessageKind::cts:
      on_clear_to_send(request, from_wire<ClearToSend>(from, payload));
      return;
    case MessageKind::refuse:
      on_refuse(request, from_wire<Refusal>(from, payload).offset);
      return;
    case MessageKind::data:
      if (payload.size() > request->stop - request->offset) damaged(from, header.kind, "brings more than was asked for");
      deliver(*request, payload);
      if (request->offset == request->stop) {
        all_requests.finish(request);
      } else {
        note_progress(*request);
      }
      return;
    case MessageKind::fin:
      if (request->announced) return put_receiver.on_put_end(*request, from_wire<PutEnd>(from, payload));
      if (!payload.empty()) damaged(from, header.kind, "ends what was not announced to it");
      on_fin(request, header.flags);
      return;
    case MessageKind::ack:
      all_requests.finish(request);
      return;
    case MessageKind::eager:
    case MessageKind::rts:
    case MessageKind::rtr:
    case MessageKind::withdraw:
    case MessageKind::withdrawn:
      break;  // reply_fault knows no such reply
  }
}

/// Straight into the buffer, through its alias where it is under guard. Asked for every piece again, since a release may come
/// between two of them.
std::span<std::byte> Engine::State::place(Peer from, const MessageHeader& header, std::size_t most) {
  Request* receive = named_request(from, header);
  const std::size_t bytes = std::min(most, receive->stop - receive->offset);
  if (bytes == 0) damaged(from, header.kind, "brings more than was asked for");
  if (receive->has_gaps()) return {};
  std::byte* const user = receive->data + receive->offset;
  std::byte* const target =
      receive->released ? job.arena->alias(reinterpret_cast<std::uintptr_t>(user)) : unguarded_address(user, bytes);
  return target ? std::span(target, bytes) : std::span<std::byte>();
}

void Engine::State::on_placed(Peer from, const MessageHeader& header, std::size_t bytes) {
  Request* receive = named_request(from, header);
  receive->offset += bytes;
  if (receive->offset == receive->stop) {
    all_requests.finish(receive);
  } else {
    note_progress(*receive);
  }
}

}  // namespace sluice
