// COOP-hca (CO, sections II-A2 and II-B3): a third one takes part in a `write` delivery, the RDMA adapter of the node. The
// receiver claims chunks for it from the back, as it does for itself (chunk_claims.hpp), and posts a read for each: out of the
// sender's registered block, through the adapter and back, into its own. The paper cuts a message once, by R = bandwidth(adapter)
// / bandwidth(processor), which somebody must have measured. Claims need no ratio: an adapter that is faster claims more often,
// and one that has much else to do less often.
//
//   sender      rts (flag_block, flag_registered, registered_address, key) → ; the rest is coop's
//   receiver    posts up to SLUICE_HCA_OUTSTANDING reads, each of one claimed chunk
//               → a read is complete: claims and posts the next one
//               → nothing is left to claim, and none is under way: its part is over (own_part_read: FIN)
//               → a read has failed: its chunk becomes a hole; no more reads for this message
//                 → none is under way: as after a read of its own that was refused, but the processors bring the hole, by a
//                   `write` delivery of it alone
//
// Load. Every process says how many transfers of large messages its adapter has under way, to peers on the node and beyond
// (NodeHints::note_adapter_work). The receiver adds these up; with SLUICE_HCA_LOAD of them it claims nothing for the adapter. It
// looks before each claim, so a message that began alone leaves the adapter to others that come.
//
// What is offloaded. Messages of SLUICE_HCA_BYTES or more, between two alias blocks, as these are registered once and stay so,
// and their aliases may be read and written while the application's pages are under guard. Everything else goes as coop does:
// no adapter, memory that cannot be registered, a connection that is still being made. A connection that has failed is not made
// again.
//
// Of RdmaTransfer, the memory, the pieces and their number are used: a piece is a chunk, in the order of the claims.
//
// The sender's buffer is the sender's to give back only after the receiver's FIN, and that comes after the last read: whoever has
// claimed a chunk owes a FIN, and the sender waits for it.

#include "runtime/engine/state.hpp"
#include "runtime/rendezvous/chunk_claims.hpp"

namespace sluice {

/// The announcement says where the adapter finds the block.
void Engine::State::offer_to_adapter(Request& send, MessageHeader& header, ReadyToSend& rts) {
  if (config.rendezvous != Rendezvous::coop_hca || send.bytes < config.hca_bytes) return;
  Rdma* const adapter = transport->loopback(send.peer);
  if (!adapter || !register_buffer(send, send.bytes, *adapter)) return;
  const RemoteMemory here = send.rdma->memory.remote();
  header.flags |= flag_registered;
  rts.registered_address = here.address;
  rts.sender_key = here.key;
}

/// The delivery is a write into a block. After a failure there is a registration already, and the adapter is left alone.
bool Engine::State::may_offload(Request& receive) {
  constexpr std::uint8_t needed = flag_block | flag_registered;
  if (config.rendezvous != Rendezvous::coop_hca || receive.rdma || (receive.rts_flags & needed) != needed) return false;
  Rdma* const adapter = transport->loopback(receive.peer);
  if (!adapter || receive.shared.chunk_bytes > adapter->largest_transfer() || !adapter->may_read(receive.peer)) return false;
  if (transport->adapter_work() >= config.hca_load) {
    ++statistics.adapter_busy;
    return false;
  }
  if (!register_buffer(receive, receive.limit, *adapter)) return false;
  receive.rdma->remote = {receive.registered_address, receive.announced_key};
  receive.rdma->direction = RdmaTransfer::Direction::read;
  return true;
}

/// As many as may be under way.
void Engine::State::offload_chunks(Request& receive) {
  while (receive.rdma->outstanding < config.hca_outstanding && offload_chunk(receive)) {
  }
}

/// False: the adapter gets none now.
bool Engine::State::offload_chunk(Request& receive) {
  Request::Shared& shared = receive.shared;
  RdmaTransfer& transfer = *receive.rdma;
  // Nothing may be claimed that is not posted then: nobody else would bring it.
  if (shared.own_part_done || shared.has_hole() || shared.peer_done || shared.refused) return false;
  if (!transport->loopback(receive.peer) || !transfer.adapter->may_read(receive.peer)) return false;
  if (transport->adapter_work() >= config.hca_load) return false;
  ChunkClaims claims(transport->claims(receive.progress_slot));
  if (!claims.claim_back(shared.generation, shared.chunks).claimed) return false;
  count_own_chunk(receive);
  const std::size_t begin = shared.chunk_at(shared.chunks - shared.back);
  const std::size_t bytes = std::min(begin + shared.chunk_bytes, receive.stop) - begin;
  if (!rdma_transfers.post(transfer, begin, bytes)) {
    ++statistics.offloads_failed;
    shared.add_hole(begin, begin + bytes);
    return false;
  }
  if (shared.back - shared.own == 1) ++statistics.offloaded;
  return true;
}

void Engine::State::on_offloaded(Request& receive, const RdmaPiece& piece) {
  statistics.bytes_offloaded += piece.bytes;
  offload_chunks(receive);
  go_on_after_offload(receive);
}

void Engine::State::on_transfer_failed(std::uint64_t token) {
  const RdmaPiece piece = rdma_transfers.take_back(token);
  Request& receive = *piece.transfer->request;
  ++statistics.offloads_failed;
  receive.shared.add_hole(piece.offset, piece.offset + piece.bytes);
  go_on_after_offload(receive);
}

}  // namespace sluice
