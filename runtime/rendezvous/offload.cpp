#include "runtime/rendezvous/offload.hpp"

#include <algorithm>

#include "runtime/rendezvous/chunk_claims.hpp"

namespace sluice {

void Offload::offer(Request& send, WireHeader& header, ReadyToSend& rts) {
  if (parts_.config.rendezvous != Rendezvous::coop_hca || send.bytes < parts_.config.hca_bytes) return;
  Rdma* const adapter = parts_.adapters->loopback(send.peer);
  if (!adapter || !parts_.memories.register_buffer(send, send.bytes, *adapter)) return;
  const RemoteMemory here = send.rdma->memory.remote();
  header.flags |= flag_registered;
  rts.registered_address = here.address;
  rts.sender_key = here.key;
}

/// The delivery is a write into a block. After a failure there is a registration already, and the adapter is left alone.
bool Offload::joins(Request& receive) {
  constexpr std::uint8_t needed = flag_block | flag_registered;
  if (parts_.config.rendezvous != Rendezvous::coop_hca || receive.rdma || (receive.rts_flags & needed) != needed) return false;
  Rdma* const adapter = parts_.adapters->loopback(receive.peer);
  if (!adapter || receive.shared.chunk_bytes > adapter->largest_transfer() || !adapter->may_read(receive.peer)) return false;
  if (parts_.hints->adapter_work() >= parts_.config.hca_load) {
    ++parts_.statistics.adapter_busy;
    return false;
  }
  if (!parts_.memories.register_buffer(receive, receive.limit, *adapter)) return false;
  receive.rdma->user = this;
  receive.rdma->remote = {receive.registered_address, receive.rts_key};
  receive.rdma->direction = RdmaTransfer::Direction::read;
  return true;
}

/// As many as may be under way.
void Offload::claim(Request& receive) {
  while (receive.rdma->outstanding < parts_.config.hca_outstanding && claim_one(receive)) {
  }
}

/// False: the adapter gets none now.
bool Offload::claim_one(Request& receive) {
  Request::Shared& shared = receive.shared;
  RdmaTransfer& transfer = *receive.rdma;
  // Nothing may be claimed that is not posted then: nobody else would bring it.
  if (shared.own_part_done || shared.has_hole() || shared.peer_done || shared.refused) return false;
  if (!parts_.adapters->loopback(receive.peer) || !transfer.adapter->may_read(receive.peer)) return false;
  if (parts_.hints->adapter_work() >= parts_.config.hca_load) return false;
  ChunkClaims claims(parts_.memory->claims(receive.progress_slot));
  if (!claims.claim_back(shared.generation, shared.chunks).claimed) return false;
  parts_.delivery.count_own_chunk(receive);
  const std::size_t begin = shared.chunk_at(shared.chunks - shared.back);
  const std::size_t bytes = std::min(begin + shared.chunk_bytes, receive.stop) - begin;
  if (!parts_.transfers.post(transfer, begin, bytes)) {
    ++parts_.statistics.offloads_failed;
    shared.add_hole(begin, begin + bytes);
    return false;
  }
  if (shared.back - shared.own == 1) ++parts_.statistics.offloaded;
  return true;
}

void Offload::segment_complete(Request& receive, const RdmaSegment& segment) {
  parts_.statistics.bytes_offloaded += segment.bytes;
  claim(receive);
  parts_.delivery.adapter_rests(receive);
}

void Offload::failed(std::uint64_t token) {
  const RdmaSegment segment = parts_.transfers.take_back(token);
  Request& receive = *segment.transfer->request;
  ++parts_.statistics.offloads_failed;
  receive.shared.add_hole(segment.offset, segment.offset + segment.bytes);
  parts_.delivery.adapter_rests(receive);
}

}  // namespace sluice
