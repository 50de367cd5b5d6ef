#include "runtime/rendezvous/reply_check.hpp"

#include "runtime/engine/wire_check.hpp"
#include "runtime/rendezvous/chunk_claims.hpp"
#include "runtime/rendezvous/rdma_protocol.hpp"

namespace sluice {
namespace {

using By = Request::Way;

/// receive: the sender's adapter writes, and what becomes of that is the sender's to say.
bool awaits_writer(const Request& receive) {
  return receive.way == By::rdma && receive.rdma->protocol->kind() == Rendezvous::rput;
}

const char* fin_fault(const Request& request, std::uint8_t flags) {
  // Of chunks: it may have crossed a refusal, or a clearance for what the other side could not read, and is ignored then.
  if ((flags & flag_of_chunks) != 0) return nullptr;
  if (request.kind == Request::Kind::receive && (request.rtr_open || awaits_writer(request))) return nullptr;
  if (request.kind == Request::Kind::receive) return "says that a receive is done whose data it was not to bring";
  return request.way == By::undecided ? nullptr : "says that a message is done that is still being sent";
}

}  // namespace

const char* reply_fault(const Request& request, Peer from, const WireHeader& header) {
  if (request.peer != from) return "names an operation with somebody else";
  if (request.complete.load(std::memory_order_relaxed)) return "names an operation that is complete";
  using Expects = Request::Expects;
  const bool send = request.kind == Request::Kind::send;
  switch (header.kind) {
    case MessageKind::cts:
      return send && request.expects == Expects::clearance ? nullptr : "clears what nobody wants to send";
    case MessageKind::refuse:
      if (!send && (awaits_writer(request) || (request.way == By::write && !request.shared.refused))) return nullptr;
      return "refuses what was not asked of it";
    case MessageKind::data:
      return !send && request.way == By::stream && request.offset < request.stop ? nullptr : "brings data that nobody asked for";
    case MessageKind::fin:
      if (send && request.expects != Expects::clearance) return "ends a transfer that nobody began";
      return fin_fault(request, header.flags);
    case MessageKind::ack:
      return send && request.expects == Expects::acknowledgement ? nullptr : "acknowledges what was not synchronous";
    case MessageKind::eager:
    case MessageKind::rts:
    case MessageKind::rtr:
    case MessageKind::withdraw:
    case MessageKind::withdrawn:
      break;
  }
  return "is of an unknown kind";
}

const char* clearance_fault(const Request& send, const ClearToSend& clear) {
  if (clear.offset < send.brought) return "asks for bytes that it was sent with the announcement";
  if (clear.limit > send.bytes || clear.offset >= clear.limit) return "asks for bytes that the message does not have";
  if (send.copying || (send.work_link.linked && send.way != By::write)) return "asks for a message that is being sent";
  if (send.way == By::rdma) return "asks again for a message that an adapter is sending";
  if (clear.delivery == Delivery::stream) return nullptr;
  if (clear.delivery == Delivery::rdma_write) {
    if (!send.offers_rdma) return "asks for a write that was not offered";
    return wraps(clear.remote_address, clear.limit) ? "asks for a write to memory that no address space has" : nullptr;
  }
  if (clear.delivery == Delivery::write_at) {
    if (!send.offers_write) return "asks for a write that was not offered";
    if (wraps(clear.remote_address, clear.limit)) return "asks for a write to memory that no address space has";
  } else if (clear.delivery != Delivery::write) {
    return "asks for an unknown way of delivery";
  }
  const std::size_t bytes = clear.limit - clear.offset;
  if (clear.chunk_bytes == 0 || bytes / clear.chunk_bytes > ChunkClaims::max_chunks)
    return "asks for chunks that cannot be counted";
  return nullptr;
}

const char* refusal_fault(const Request& receive, std::size_t offset) {
  if (receive.way == By::rdma) return offset == receive.offset ? nullptr : "refuses bytes that were not its to bring";
  const Request::Shared& shared = receive.shared;
  const std::size_t end = shared.back == 0 ? receive.stop : shared.chunk_at(shared.chunks - shared.back);
  return offset < shared.start || offset > end ? "refuses bytes that were not its to bring" : nullptr;
}

}  // namespace sluice
