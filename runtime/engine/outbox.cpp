#include "runtime/engine/outbox.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/engine/eager.hpp"
#include "runtime/engine/trace_events.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {

Outbox::Outbox(const Job& job, const Sleepers& sleepers, MatchTrace& matches, Host& host)
    : self_(job.self),
      channel_(job.transport),
      sleepers_(sleepers),
      host_(host),
      to_self_(job.self),
      queues_(job.size),
      traced_(job.size),
      matches_(matches) {}

bool Outbox::stream_directly(Peer to, const WireHeader& header, std::span<const std::byte> prefix,
                             std::span<const std::byte> data) {
  const std::byte* source = unguarded_address(const_cast<std::byte*>(data.data()), data.size());
  return source && channel_->send(to, header, prefix, {source, data.size()});
}

bool Outbox::send_eager(Request& send, const WireHeader& header) {
  std::byte* room = is_free(send.peer) ? reserve(send.peer, header.payload_bytes) : nullptr;
  if (!room) {
    queues_[static_cast<std::size_t>(send.peer)].push_back({header, {}, &send});
    ++queued_;
    return false;
  }
  fill_eager(send, room);
  commit(send.peer, header);
  return true;
}

void Outbox::send_control(Peer to, MessageKind kind, std::uint64_t subject, std::span<const std::byte> payload,
                          std::uint8_t flags) {
  WireHeader header;
  header.kind = kind;
  header.flags = flags;
  header.subject = subject;
  send_or_queue(to, header, payload);
}

void Outbox::answer(const Request& request, MessageKind kind, std::span<const std::byte> payload, std::uint8_t flags) {
  send_control(request.peer, kind, request.remote_request, payload, flags);
  if (!trace::on()) [[likely]]
    return;
  const std::uint64_t at = matches_.tell();
  trace::message_left(request, kind, payload.size(), 0, at);
}

void Outbox::send_or_queue(Peer to, const WireHeader& base, std::span<const std::byte> payload) {
  WireHeader header = base;
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  if (std::byte* room = is_free(to) ? reserve(to, payload.size()) : nullptr) {
    if (!payload.empty()) std::memcpy(room, payload.data(), payload.size());
    commit(to, header);
    return;
  }
  Queued message{header, {}, nullptr};
  std::copy(payload.begin(), payload.end(), message.control.begin());
  queues_[static_cast<std::size_t>(to)].push_back(message);
  ++queued_;
}

void Outbox::on_room(Peer to) {
  auto& queue = queues_[static_cast<std::size_t>(to)];
  while (!queue.empty()) {
    const Queued message = queue.front();
    std::byte* room = reserve(to, message.header.payload_bytes);
    if (!room) return;
    if (message.eager) {
      fill_eager(*message.eager, room);
    } else {
      std::memcpy(room, message.control.data(), message.header.payload_bytes);
    }
    commit(to, message.header);
    queue.pop_front();
    --queued_;
    if (message.eager) host_.eager_sent(message.eager);
  }
}

void Outbox::note_departure(Request& send, MessageKind kind, std::size_t payload_bytes) {
  if (!trace::on()) [[likely]]
    return;
  trace::posted(send);
  trace::message_left(send, kind, payload_bytes, traced_number(send.peer, *send.context));
}

std::uint32_t Outbox::traced_number(Peer to, const Context& context) {
  return trace::on() ? traced_.next(to, context.is_channel) : 0;
}

}  // namespace sluice
