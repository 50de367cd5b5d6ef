#include "runtime/rendezvous/replies.hpp"

#include <algorithm>
#include <cstdint>

#include "runtime/alias/arena.hpp"
#include "runtime/base/fatal.hpp"
#include "runtime/engine/delivery.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/engine/wire_check.hpp"
#include "runtime/guard/user_memory.hpp"
#include "runtime/rendezvous/reply_check.hpp"

namespace sluice {

Request& Replies::named_request(Peer from, const WireHeader& header) {
  Request* request = parts_.requests.find(static_cast<RequestId>(header.subject));
  if (!request) damaged(from, header.kind, "names no operation of this process");
  if (const char* fault = reply_fault(*request, from, header)) damaged(from, header.kind, fault);
  return *request;
}

void Replies::on_reply(Peer from, const WireHeader& header, std::span<const std::byte> payload) {
  Request& request = named_request(from, header);
  if (trace::on()) [[unlikely]]
    trace::answer_came(request, header.kind, payload.size());
  if (request.is_send()) parts_.rts_sender.note_answer(request);
  switch (header.kind) {
    case MessageKind::cts:
      return on_clearance(request, from_wire<ClearToSend>(from, payload));
    case MessageKind::refuse:
      return on_refusal(request, from_wire<Refusal>(from, payload).offset);
    case MessageKind::data:
      return on_data(request, payload);
    case MessageKind::fin:
      return on_end(request, header, payload);
    case MessageKind::ack:
      return parts_.requests.finish(&request);
    case MessageKind::eager:
    case MessageKind::rts:
    case MessageKind::rtr:
    case MessageKind::withdraw:
    case MessageKind::withdrawn:
      break;  // reply_fault knows no such reply
  }
}

void Replies::on_clearance(Request& send, const ClearToSend& clear) {
  if (const char* fault = clearance_fault(send, clear)) {
    fatal("rank %d %s: bytes %zu to %zu of a message of %zu bytes", static_cast<int>(send.peer), fault,
          static_cast<std::size_t>(clear.offset), static_cast<std::size_t>(clear.limit), send.bytes);
  }
  parts_.ways.cleared(send, clear);
}

void Replies::on_refusal(Request& receive, std::size_t offset) {
  if (const char* fault = refusal_fault(receive, offset)) fatal("rank %d %s", static_cast<int>(receive.peer), fault);
  parts_.ways.refused(receive, offset);
}

void Replies::on_data(Request& receive, std::span<const std::byte> payload) {
  if (payload.size() > receive.stop - receive.offset) damaged(receive.peer, MessageKind::data, "brings more than was asked for");
  deliver(receive, payload, parts_.job.arena);
  note_progress(receive);
}

void Replies::on_end(Request& request, const WireHeader& header, std::span<const std::byte> payload) {
  if (request.rtr_open) return parts_.put_receiver.on_put_end(request, from_wire<PutEnd>(request.peer, payload));
  if (!payload.empty()) damaged(request.peer, header.kind, "ends what was not announced to it");
  parts_.ways.ended(request, header.flags);
}

/// Bytes are in place, perhaps the last ones.
void Replies::note_progress(Request& receive) {
  if (receive.offset == receive.stop) {
    parts_.requests.finish(&receive);
  } else if (trace::on()) [[unlikely]] {
    trace::progressed(receive, receive.offset);
  }
}

std::span<std::byte> Replies::place(Peer from, const WireHeader& header, std::size_t max_bytes) {
  const Request& receive = named_request(from, header);
  const std::size_t bytes = std::min(max_bytes, receive.stop - receive.offset);
  if (bytes == 0) damaged(from, header.kind, "brings more than was asked for");
  if (receive.has_gaps()) return {};
  std::byte* const user = receive.data + receive.offset;
  std::byte* const target =
      receive.released ? parts_.job.arena->alias(reinterpret_cast<std::uintptr_t>(user)) : unguarded_address(user, bytes);
  return target ? std::span(target, bytes) : std::span<std::byte>();
}

void Replies::on_placed(Peer from, const WireHeader& header, std::size_t bytes) {
  Request& receive = named_request(from, header);
  receive.offset += bytes;
  note_progress(receive);
}

}  // namespace sluice
