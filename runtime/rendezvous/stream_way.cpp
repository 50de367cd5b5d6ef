#include "runtime/rendezvous/stream_way.hpp"

#include <algorithm>

#include "runtime/guard/user_memory.hpp"
#include "runtime/rendezvous/packing.hpp"

namespace sluice {
namespace {

/// Shorter through a ring: the receiver copies the first segment out while the sender fills the next.
constexpr std::size_t part_bytes = bounce_bytes / 2;
/// What a transport that streams out of the sender's memory is given at a time.
constexpr std::size_t max_streamed_bytes = 128 * 1024;
/// A stream yields to other work after this many messages.
constexpr int burst = 4;

}  // namespace

bool StreamWay::begin(Request& receive, std::size_t coming) {
  if (receive.offset + coming == receive.stop) {
    parts_.outbox.answer(receive, MessageKind::fin);
    parts_.matches.chosen(receive, trace::Protocol::stream, trace::Reason::brought_along, trace::with_last);
    if (coming == 0) parts_.requests.finish(&receive);
    return true;
  }
  receive.way = Request::Way::stream;
  ClearToSend clear;
  clear.receiver_request = static_cast<std::uint64_t>(receive.id);
  clear.remote_address = reinterpret_cast<std::uint64_t>(receive.data);
  clear.offset = receive.offset + coming;
  clear.limit = receive.stop;
  clear.delivery = Delivery::stream;
  clear.progress_slot = receive.progress_slot;
  ++parts_.statistics.streamed;
  parts_.outbox.answer(receive, MessageKind::cts, std::as_bytes(std::span(&clear, 1)));
  parts_.matches.chosen(receive, trace::Protocol::stream, trace::Reason::only_way, trace::with_last);
  return true;
}

void StreamWay::cleared(Request& send, const ClearToSend& clear) {
  note_clearance(send, clear);
  send.way = Request::Way::stream;
  streams_.push_back(&send);
  waits_ = false;
}

bool StreamWay::work() {
  if (waits_) return false;
  bool moved = false;
  Request* next = nullptr;
  for (Request* send = streams_.first(); send; send = next) {
    next = WorkList::next(send);
    for (int messages = 0; messages < burst && send->offset < send->limit; ++messages) {
      const std::size_t bytes = push(*send);
      if (bytes == 0) break;
      send->offset += bytes;
      moved = true;
      if (trace::on() && send->offset < send->limit) [[unlikely]]
        trace::progressed(*send, send->offset);
    }
    if (send->offset == send->limit) {
      streams_.remove(send);
      parts_.requests.finish(send);
    }
  }
  waits_ = !moved && !streams_.empty();
  return moved;
}

/// The next bytes; how many have left.
std::size_t StreamWay::push(const Request& send) {
  const std::size_t left = send.limit - send.offset;
  const bool directly = send.peer != parts_.job.self && parts_.job.transport->streams_directly(send.peer);
  return directly ? push_directly(send, left) : push_copied(send, left);
}

std::size_t StreamWay::push_copied(const Request& send, std::size_t max_bytes) {
  const std::size_t room =
      send.peer == parts_.job.self ? bounce_bytes : std::min(part_bytes, parts_.job.transport->max_payload(send.peer));
  const std::size_t bytes = std::min(room, max_bytes);
  std::byte* target = parts_.outbox.reserve(send.peer, bytes);
  if (!target) return 0;
  pack_at(send, send.offset, {target, bytes});
  WireHeader header;
  header.kind = MessageKind::data;
  header.payload_bytes = static_cast<std::uint32_t>(bytes);
  header.subject = send.remote_request;
  parts_.outbox.commit(send.peer, header);
  return bytes;
}

/// Under the lock, so that nothing comes under guard while the kernel reads.
std::size_t StreamWay::push_directly(const Request& send, std::size_t max_bytes) {
  std::size_t bytes = std::min(max_bytes, max_streamed_bytes);
  const std::byte* source = send.has_gaps() ? nullptr : unguarded_address(send.data + send.offset, bytes);
  Bounce bounce;
  if (!source) {
    bytes = std::min(bytes, bounce_bytes);
    bounce = std::make_unique_for_overwrite<std::byte[]>(bytes);
    pack_at(send, send.offset, {bounce.get(), bytes});
    source = bounce.get();
  }
  return parts_.job.transport->stream(send.peer, send.remote_request, {source, bytes});
}

}  // namespace sluice
