#include "interpose/mpi/neighbour_call.hpp"

#include <algorithm>
#include <vector>

#include "runtime/collective/plans/plans.hpp"

namespace sluice {

NeighbourCall::NeighbourCall(OrderKind kind, MPI_Comm comm) : kind_(kind), communicator_(adopted(comm)) {
  if (communicator_ && communicator_->carries_all_collectives()) neighbours_ = neighbours_in(*communicator_);
}

Blocks NeighbourCall::without_missing(std::span<const Edge> neighbours, Blocks blocks) {
  if (blocks.size() != neighbours.size()) return blocks;  // not in order
  const BufferArgument nothing(nullptr, 0, predefined().byte);
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    if (!neighbours[block].exists()) blocks[block] = nothing;
  }
  return blocks;
}

bool NeighbourCall::is_in_order() const {
  const auto is_valid = [](const BufferArgument& block) { return block.valid(); };
  if (!std::all_of(operand_.begin(), operand_.end(), is_valid)) return false;
  return std::all_of(result_.begin(), result_.end(), is_valid) && agrees_with_itself();
}

/// What this rank gives to itself.
bool NeighbourCall::agrees_with_itself() const {
  const auto& [sources, destinations] = *neighbours_;
  for (std::size_t block = 0; block < destinations.size(); ++block) {
    if (destinations[block].rank != Rank{communicator_->rank}) continue;
    const auto found = std::find(sources.begin(), sources.end(), destinations[block]);
    if (found == sources.end()) return false;
    if (sent_to(block).bytes() != result_[static_cast<std::size_t>(found - sources.begin())].bytes()) return false;
  }
  return true;
}

const BufferArgument& NeighbourCall::sent_to(std::size_t destination) const {
  return kind_ == OrderKind::neighbour_allgather ? operand_.front() : operand_[destination];
}

Schedule NeighbourCall::schedule() const {
  std::vector<std::size_t> to;
  std::vector<std::size_t> from;
  for (std::size_t block = 0; block < neighbours_->destinations.size(); ++block) to.push_back(sent_to(block).bytes());
  for (const BufferArgument& block : result_) from.push_back(block.bytes());
  Shape shape = shape_in(*communicator_);
  shape.to = to;
  shape.from = from;
  shape.sources = neighbours_->sources;
  shape.destinations = neighbours_->destinations;
  return kind_ == OrderKind::neighbour_allgather ? plans::neighbour_allgather(shape) : plans::neighbour_alltoall(shape);
}

PreparedCollective NeighbourCall::prepare(CallSite site) const {
  PreparedCollective call(*communicator_, site);
  for (const BufferArgument& block : operand_) call.order.buffers.operand.push_back(call.read(block));
  for (const BufferArgument& block : result_) {
    call.order.buffers.result.push_back(call.write(block));
    call.order.bytes += block.bytes();
  }
  call.order.schedule = schedule();
  call.order.kind = kind_;
  call.order.fingerprint = fingerprint(kind_);
  return call;
}

}  // namespace sluice
