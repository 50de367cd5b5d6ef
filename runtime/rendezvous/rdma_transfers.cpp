#include "runtime/rendezvous/rdma_transfers.hpp"

#include <utility>

namespace sluice {

bool RdmaTransfers::post(RdmaTransfer& transfer, std::size_t offset, std::size_t bytes, std::uint64_t posted_ns) {
  const Peer peer = transfer.request->peer;
  const std::span<std::byte> local(transfer.local(offset), bytes);
  const RemoteMemory remote = transfer.remote_at(offset);
  const std::uint32_t key = transfer.memory.local_key();
  RdmaSegment* const segment = post_by([&](std::uint64_t token) {
    return transfer.direction == RdmaTransfer::Direction::read ? transfer.adapter->read(peer, local, key, remote, token)
                                                               : transfer.adapter->write(peer, local, key, remote, token);
  });
  if (!segment) return false;
  enter(*segment, transfer, offset, bytes);
  segment->posted_ns = posted_ns;
  segment->peer = peer;
  return true;
}

void RdmaTransfers::on_transferred(std::uint64_t token) {
  const RdmaSegment segment = take_back(token);
  RdmaTransfer& transfer = *segment.transfer;
  transfer.user->segment_over(segment);
  if (transfer.request) return transfer.user->segment_complete(*transfer.request, segment);
  if (!transfer.segments.empty()) return;
  std::erase_if(zombies_, [&](const auto& kept) { return kept.get() == &transfer; });
}

void RdmaTransfers::end(Request& request) {
  request.rdma->request = nullptr;
  if (!request.rdma->segments.empty()) zombies_.push_back(std::move(request.rdma));
  request.rdma.reset();
}

RdmaSegment* RdmaTransfers::take_segment() {
  if (free_.empty()) return &segments_.emplace_back();
  RdmaSegment* const segment = free_.back();
  free_.pop_back();
  return segment;
}

void RdmaTransfers::enter(RdmaSegment& segment, RdmaTransfer& transfer, std::size_t offset, std::size_t bytes) {
  segment = {.transfer = &transfer, .offset = offset, .bytes = bytes, .posted_ns = not_timed, .peer = {}, .link = {}};
  transfer.segments.push_back(&segment);
  ++transfer.outstanding;
  if (!transfer.eager) hints_->note_adapter_work(1);
}

RdmaSegment RdmaTransfers::take_back(std::uint64_t token) {
  auto* const segment = reinterpret_cast<RdmaSegment*>(token);
  segment->transfer->segments.remove(segment);
  --segment->transfer->outstanding;
  if (!segment->transfer->eager) hints_->note_adapter_work(-1);
  free_.push_back(segment);
  return *segment;
}

}  // namespace sluice
