#include "interpose/mpi/neighbour_call.hpp"

#include <algorithm>
#include <vector>

#include "interpose/mpi/errors.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice {
namespace {

std::vector<std::size_t> left_of(std::vector<std::size_t> bytes, const std::vector<bool>& left) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = i < left.size() && left[i] ? bytes[i] : 0;
  return bytes;
}

}  // namespace

NeighbourCall::NeighbourCall(OrderKind kind, Way way, MPI_Comm comm) : kind_(kind), way_(way), communicator_(adopted(comm)) {
  if (!communicator_) return;
  const bool is_carried =
      way == Way::lanes ? communicator_->carries_collectives() && communicator_->team : communicator_->carries_all_collectives();
  if (is_carried) neighbours_ = neighbours_in(*communicator_);
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
  if (!std::all_of(result_.begin(), result_.end(), is_valid)) return false;
  return way_ == Way::lanes || agrees_with_itself();  // there one that does not takes part, so that nobody waits for it
}

/// What this rank gives to itself.
bool NeighbourCall::agrees_with_itself() const {
  const auto& sources = neighbours_->sources;
  const auto& destinations = neighbours_->destinations;
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

NeighbourCall::Bytes NeighbourCall::sent_bytes() const {
  Bytes to;
  for (std::size_t block = 0; block < neighbours_->destinations.size(); ++block) to.push_back(sent_to(block).bytes());
  return to;
}

NeighbourCall::Bytes NeighbourCall::received_bytes() const {
  Bytes from;
  for (const BufferArgument& block : result_) from.push_back(block.bytes());
  return from;
}

void NeighbourCall::prepare_buffers(PreparedCollective& call) const {
  call.order.buffers.operand.reserve(operand_.size());
  call.order.buffers.result.reserve(result_.size());
  for (const BufferArgument& block : operand_) call.order.buffers.operand.push_back(call.read(block));
  for (const BufferArgument& block : result_) {
    call.order.buffers.result.push_back(call.write(block));
    call.order.bytes += block.bytes();
  }
}

void NeighbourCall::prepare_schedule(PreparedCollective& call, const Bytes& to, const Bytes& from) const {
  Shape shape = shape_in(*communicator_);
  shape.to = to;
  shape.from = from;
  shape.sources = neighbours_->sources;
  shape.destinations = neighbours_->destinations;
  const bool is_one_block = kind_ == OrderKind::neighbour_allgather;
  call.order.schedule = is_one_block ? plans::neighbour_allgather(shape) : plans::neighbour_alltoall(shape);
  call.order.kind = kind_;
  call.order.fingerprint = fingerprint(kind_);
}

PreparedCollective NeighbourCall::prepare(CallSite site) const {
  PreparedCollective call(*communicator_, site);
  prepare_buffers(call);
  prepare_schedule(call, sent_bytes(), received_bytes());
  return call;
}

int NeighbourCall::carry_out_in_lanes(CallSite site) const {
  PreparedCollective call(*communicator_, site);
  prepare_buffers(call);
  const auto& buffers = call.order.buffers;
  const auto found = engine().collectives().exchange(*communicator_->context, *communicator_->team,
                                                     {kind_, *neighbours_, buffers.operand, buffers.result});
  int code = MPI_SUCCESS;
  if (found.mismatch || found.is_complete()) {
    code = concluded(call, found.mismatch, call.order.bytes, false);
  } else {
    prepare_schedule(call, left_of(sent_bytes(), found.sent_left), left_of(received_bytes(), found.received_left));
    code = call.carry_out();
  }
  return code == MPI_SUCCESS && found.is_truncated ? raise_error(*communicator_, MPI_ERR_TRUNCATE, site.function()) : code;
}

}  // namespace sluice
