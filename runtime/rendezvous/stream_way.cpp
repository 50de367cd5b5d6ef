#include "runtime/rendezvous/stream_way.hpp"

#include <algorithm>

#include "runtime/engine/trace_events.hpp"
#include "runtime/guard/user_memory.hpp"
#include "runtime/rendezvous/packing.hpp"

namespace sluice {
namespace {

/// Shorter through a ring: the receiver copies the first piece out while the sender fills the next.
constexpr std::size_t piece_bytes = bounce_bytes / 2;
/// What a transport that streams out of the sender's memory is given at a time.
constexpr std::size_t most_streamed_bytes = 128 * 1024;
/// A stream yields to other work after this many messages.
constexpr int burst = 4;

}  // namespace

bool StreamWay::begin(Request& receive, std::size_t coming) {
  if (receive.offset + coming == receive.stop) {
    host_.answer(receive, MessageKind::fin, {});
    host_.tell_choice(receive, trace::Reason::brought_along);
    if (coming == 0) host_.finish(receive);
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
  ++statistics_.streamed;
  host_.answer(receive, MessageKind::cts, std::as_bytes(std::span(&clear, 1)));
  host_.tell_choice(receive, trace::Reason::only_way);
  return true;
}

void StreamWay::cleared(Request& send, const ClearToSend& clear) {
  send.remote_request = clear.receiver_request;
  send.remote_address = clear.remote_address;
  send.offset = clear.offset;
  send.limit = clear.limit;
  send.progress_slot = clear.progress_slot;
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
      host_.finish(*send);
    }
  }
  waits_ = !moved && !streams_.empty();
  return moved;
}

/// The next bytes; how many have left.
std::size_t StreamWay::push(const Request& send) {
  const std::size_t left = send.limit - send.offset;
  const bool directly = send.peer != self_ && channel_->streams_directly(send.peer);
  return directly ? push_directly(send, left) : push_copied(send, left);
}

std::size_t StreamWay::push_copied(const Request& send, std::size_t most) {
  const std::size_t room = send.peer == self_ ? bounce_bytes : std::min(piece_bytes, channel_->max_payload(send.peer));
  const std::size_t bytes = std::min(room, most);
  std::byte* target = host_.reserve(send.peer, bytes);
  if (!target) return 0;
  pack_at(send, send.offset, {target, bytes});
  MessageHeader header;
  header.kind = MessageKind::data;
  header.payload_bytes = static_cast<std::uint32_t>(bytes);
  header.subject = send.remote_request;
  host_.commit(send.peer, header);
  return bytes;
}

/// Under the lock, so that nothing comes under guard while the kernel reads.
std::size_t StreamWay::push_directly(const Request& send, std::size_t most) {
  std::size_t bytes = std::min(most, most_streamed_bytes);
  const std::byte* source = send.has_gaps() ? nullptr : unguarded_address(send.data + send.offset, bytes);
  Bounce bounce;
  if (!source) {
    bytes = std::min(bytes, bounce_bytes);
    bounce = std::make_unique_for_overwrite<std::byte[]>(bytes);
    pack_at(send, send.offset, {bounce.get(), bytes});
    source = bounce.get();
  }
  return channel_->stream(send.peer, send.remote_request, {source, bytes});
}

}  // namespace sluice
