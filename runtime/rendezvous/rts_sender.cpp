#include "runtime/rendezvous/rts_sender.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/base/clock.hpp"
#include "runtime/engine/eager.hpp"
#include "runtime/guard/user_memory.hpp"

namespace sluice {

void RtsSender::send(Request& send) {
  parts_.requests.note_large_send(send);
  WireHeader header = matching_header(send, MessageKind::rts);
  parts_.small_sends.number(header, send.peer);
  ReadyToSend rts{.message_bytes = send.bytes, .sender_request = static_cast<std::uint64_t>(send.id)};
  offer(send, header, rts);
  const std::size_t payload_bytes = leave(send, header, rts);
  send.expects = Request::Expects::clearance;
  parts_.outbox.note_departure(send, MessageKind::rts, payload_bytes);
}

/// Where the message is, for whoever may read it there, and what is known of its sender.
void RtsSender::offer(Request& send, WireHeader& header, ReadyToSend& rts) {
  if (send.call_waits) header.flags |= flag_sender_waits;
  if (send.owned && !send.call_waits) header.flags |= flag_buffered;
  const std::byte* address = nullptr;
  const bool is_near = !parts_.rdma_way.adapter_for(send.peer);
  // Where the kernel would wait for a closed page of this side, it might wait for a later message.
  send.offers_write = is_near && send.peer != parts_.job.self && parts_.job.transport->can_write_at(send.peer) &&
                      !parts_.users.kernel_waits(parts_.blocks);
  if (send.offers_write) header.flags |= flag_writes_at;
  if (!is_near) {
    parts_.rdma_way.offer(send, header, rts);
  } else if (offers_block(send)) {
    send.offered = true;
    header.flags |= flag_block;
    parts_.job.transport->mark_lines();
    if (parts_.lines.are_overwritten(send)) header.flags |= flag_overwritten;
    address = send.data;
    parts_.offload.offer(send, header, rts);
  } else if (!send.has_gaps() && (send.peer == parts_.job.self || !parts_.users.kernel_waits(parts_.blocks))) {
    address = unguarded_address(send.data, send.bytes);
  }
  if (!address) return;
  header.flags |= flag_contiguous;
  rts.sender_address = reinterpret_cast<std::uint64_t>(address);
}

/// Bytes of payload that left: the announcement, and the first bytes of the message where they may come along.
std::size_t RtsSender::leave(Request& send, WireHeader header, const ReadyToSend& rts) {
  const Job& job = parts_.job;
  AnnouncementBudget& budget = budgets_[static_cast<std::size_t>(send.peer)];
  const bool by_chunks =
      (header.flags & flag_rdma) != 0 && (header.flags & flag_registered) != 0 && parts_.rdma_way.prefers_chunks(send.bytes);
  const bool is_streamed = !by_chunks && send.peer != job.self && job.transport->streams_directly(send.peer);
  std::size_t first = 0;
  if ((by_chunks || is_streamed) && parts_.outbox.is_free(send.peer)) {
    const std::size_t max_payload = job.transport->max_payload(send.peer) - sizeof rts;
    if (by_chunks) first = std::min({send.bytes, job.config.rdrp_chunk, max_payload});
    if (is_streamed) first = budget.share_of(send.bytes, max_payload);
  }
  header.payload_bytes = static_cast<std::uint32_t>(sizeof rts + first);
  const auto prefix = std::as_bytes(std::span(&rts, 1));
  if (first == 0 || send.has_gaps() || !parts_.outbox.send_directly(send.peer, header, prefix, send.data, first)) {
    std::byte* room = first != 0 ? parts_.outbox.reserve(send.peer, sizeof rts + first) : nullptr;
    if (!room) {
      parts_.outbox.send_or_queue(send.peer, header, prefix);
      return sizeof rts;
    }
    std::memcpy(room, &rts, sizeof rts);
    pack(send, {room + sizeof rts, first});
    parts_.outbox.commit(send.peer, header);
  }
  if (is_streamed) {
    send.brought = send.offset = first;
    send.rts_left_at = now_ns();
    budget.announced(first);
    if (send.has_left()) parts_.requests.note_left();
  }
  return header.payload_bytes;
}

void RtsSender::note_answer(Request& send) {
  if (send.rts_left_at == 0) return;
  budgets_[static_cast<std::size_t>(send.peer)].answered(send.brought, now_ns() - send.rts_left_at);
  send.rts_left_at = 0;
}

}  // namespace sluice
