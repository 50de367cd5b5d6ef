#include "runtime/rendezvous/rdma_transfers.hpp"

#include <utility>

namespace sluice {

bool RdmaTransfers::post(RdmaTransfer& transfer, std::size_t offset, std::size_t bytes) {
  const Peer peer = transfer.request->peer;
  const std::span<std::byte> local(transfer.local(offset), bytes);
  const RemoteMemory remote = transfer.remote_at(offset);
  const std::uint32_t key = transfer.memory.local_key();
  RdmaPiece* const piece = post_by([&](std::uint64_t token) {
    return transfer.direction == RdmaTransfer::Direction::read ? transfer.adapter->read(peer, local, key, remote, token)
                                                               : transfer.adapter->write(peer, local, key, remote, token);
  });
  if (piece) enter(*piece, transfer, offset, bytes);
  return piece != nullptr;
}

void RdmaTransfers::on_transferred(std::uint64_t token) {
  const RdmaPiece piece = take_back(token);
  RdmaTransfer& transfer = *piece.transfer;
  if (transfer.request) return transfer.user->piece_complete(*transfer.request, piece);
  if (!transfer.pieces.empty()) return;
  std::erase_if(lingering_, [&](const auto& kept) { return kept.get() == &transfer; });
}

void RdmaTransfers::end(Request& request) {
  request.rdma->request = nullptr;
  if (!request.rdma->pieces.empty()) lingering_.push_back(std::move(request.rdma));
  request.rdma.reset();
}

RdmaPiece* RdmaTransfers::take_piece() {
  if (free_.empty()) return &pieces_.emplace_back();
  RdmaPiece* const piece = free_.back();
  free_.pop_back();
  return piece;
}

void RdmaTransfers::enter(RdmaPiece& piece, RdmaTransfer& transfer, std::size_t offset, std::size_t bytes) {
  piece = {.transfer = &transfer, .offset = offset, .bytes = bytes, .link = {}};
  transfer.pieces.push_back(&piece);
  ++transfer.outstanding;
  if (!transfer.eager) hints_->note_adapter_work(1);
}

RdmaPiece RdmaTransfers::take_back(std::uint64_t token) {
  auto* const piece = reinterpret_cast<RdmaPiece*>(token);
  piece->transfer->pieces.remove(piece);
  --piece->transfer->outstanding;
  if (!piece->transfer->eager) hints_->note_adapter_work(-1);
  free_.push_back(piece);
  return *piece;
}

}  // namespace sluice
