#include "interpose/mpi/block_call.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "interpose/mpi/errors.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice {
namespace {

/// By integers, as displacements from MPI_BOTTOM are addresses.
const void* at(const void* base, MPI_Aint bytes) {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(bytes));
}

/// No argument that is in order.
Blocks no_blocks() { return {BufferArgument(nullptr, -1, predefined().datatype_null)}; }

std::vector<std::size_t> bytes_of(const Blocks& blocks) {
  std::vector<std::size_t> bytes;
  for (const BufferArgument& block : blocks) bytes.push_back(block.bytes());
  return bytes;
}

/// The parts that have their bit in `left`.
std::vector<std::size_t> left_of(std::vector<std::size_t> bytes, std::uint32_t left) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = (left >> i & 1) != 0 ? bytes[i] : 0;
  return bytes;
}

}  // namespace

Blocks equal_blocks(const void* base, MPI_Count count, MPI_Datatype type, int ranks) {
  const FlatType* const flat = flat_type(type);
  if (!flat || count < 0) return no_blocks();
  Blocks blocks;
  blocks.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) blocks.emplace_back(at(base, rank * count * flat->layout->extent()), count, flat);
  return blocks;
}

template <typename Count, typename Displacement>
Blocks counted_blocks(const void* base, const Count counts[], const Displacement displacements[], MPI_Datatype type, int ranks) {
  const FlatType* const flat = flat_type(type);
  if (!flat || !counts || !displacements) return no_blocks();
  Blocks blocks;
  blocks.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    blocks.emplace_back(at(base, displacements[rank] * flat->layout->extent()), counts[rank], flat);
  return blocks;
}

template <typename Count, typename Displacement>
Blocks typed_blocks(const void* base, const Count counts[], const Displacement displacements[], const MPI_Datatype types[],
                    int ranks) {
  if (!counts || !displacements || !types) return no_blocks();
  Blocks blocks;
  blocks.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) blocks.emplace_back(at(base, displacements[rank]), counts[rank], types[rank]);
  return blocks;
}

template Blocks counted_blocks(const void*, const int[], const int[], MPI_Datatype, int);
template Blocks counted_blocks(const void*, const MPI_Count[], const MPI_Aint[], MPI_Datatype, int);
template Blocks typed_blocks(const void*, const int[], const int[], const MPI_Datatype[], int);
template Blocks typed_blocks(const void*, const int[], const MPI_Aint[], const MPI_Datatype[], int);
template Blocks typed_blocks(const void*, const MPI_Count[], const MPI_Aint[], const MPI_Datatype[], int);

BlockCall::BlockCall(OrderKind kind, Lengths lengths, MPI_Comm comm, int root)
    : kind_(kind), lengths_(lengths), communicator_(adopted(comm)), root_(root) {}

bool BlockCall::is_carried_here() const {
  if (!communicator_ || (root_ != no_root && !communicator_->has_rank(root_))) return false;
  if (lengths_ == Lengths::of_pairs) return communicator_->carries_all_collectives();
  return communicator_->carries_collectives() && (lengths_ != Lengths::of_pairs_in_lanes || communicator_->team);
}

/// What goes from this rank to itself.
const BufferArgument* BlockCall::own_block(const Blocks& blocks) const {
  if (blocks.empty()) return nullptr;
  return blocks.size() == 1 ? &blocks.front() : &blocks[static_cast<std::size_t>(communicator_->rank)];
}

bool BlockCall::has_own_length_twice() const {
  const BufferArgument* const sent = own_block(operand_);
  const BufferArgument* const received = own_block(result_);
  return sent && received && sent->bytes() != received->bytes();
}

/// All members alike have the same call in place. One whose own block has two lengths takes part in lanes without it, so that
/// the others need not wait.
bool BlockCall::is_in_order() {
  const auto is_valid = [](const BufferArgument& block) { return block.valid() && block.address() != MPI_IN_PLACE; };
  if (!std::all_of(operand_.begin(), operand_.end(), is_valid)) return false;
  if (!std::all_of(result_.begin(), result_.end(), is_valid)) return false;
  is_odd_ = has_own_length_twice();
  return lengths_ == Lengths::of_pairs_in_lanes ? !is_exchange_in_place() : !is_odd_;
}

Schedule BlockCall::schedule(const std::vector<std::size_t>& to, const std::vector<std::size_t>& from) const {
  Shape shape = shape_in(*communicator_);
  shape.root = Rank{std::max(root_, 0)};
  shape.in_place = in_place_;
  switch (kind_) {
    case OrderKind::gather:
      if (is_root())
        shape.from = from;
      else
        shape.bytes = to.front();
      return plans::gather(shape);
    case OrderKind::scatter:
      if (is_root())
        shape.to = to;
      else
        shape.bytes = from.front();
      return plans::scatter(shape);
    case OrderKind::allgather:
      shape.from = from;
      return plans::allgather(shape);
    default:
      shape.to = to;
      shape.from = from;
      return plans::alltoall(shape);
  }
}

std::size_t BlockCall::agreed_bytes() const {
  if (lengths_ == Lengths::of_pairs || lengths_ == Lengths::of_pairs_in_lanes) return 0;
  const Blocks& blocks = result_.empty() ? operand_ : result_;
  if (lengths_ == Lengths::equal) return blocks.front().bytes();
  return std::accumulate(blocks.begin(), blocks.end(), std::size_t{0},
                         [](std::size_t sum, const BufferArgument& block) { return sum + block.bytes(); });
}

void BlockCall::prepare_buffers(PreparedCollective& call) const {
  call.order.buffers.operand.reserve(operand_.size());
  call.order.buffers.result.reserve(result_.size());
  for (const BufferArgument& block : operand_) call.order.buffers.operand.push_back(call.read(block));
  const bool is_exchanged = is_exchange_in_place();
  const bool has_own_part = in_place_ && !is_exchanged;
  for (std::size_t rank = 0; rank < result_.size(); ++rank) {
    const BufferArgument& block = result_[rank];
    const bool is_own_part = has_own_part && rank == static_cast<std::size_t>(communicator_->rank);
    call.order.buffers.result.push_back(is_own_part ? call.read(block) : is_exchanged ? call.exchange(block) : call.write(block));
    call.order.bytes += block.bytes();
  }
}

void BlockCall::prepare_schedule(PreparedCollective& call, const std::vector<std::size_t>& to,
                                 const std::vector<std::size_t>& from) const {
  call.order.schedule = schedule(to, from);
  call.order.kind = kind_;
  if (root_ != no_root) call.order.root = Rank{root_};
  call.agreed_bytes = agreed_bytes();
  call.order.fingerprint = fingerprint(kind_, static_cast<std::size_t>(std::max(root_, 0)), 0, call.agreed_bytes);
}

PreparedCollective BlockCall::prepare(CallSite site) const {
  PreparedCollective call(*communicator_, site);
  prepare_buffers(call);
  prepare_schedule(call, bytes_of(operand_), bytes_of(result_));
  return call;
}

int BlockCall::carry_out_in_lanes(CallSite site) {
  if (is_odd_) leave_own_part_out();
  PreparedCollective call(*communicator_, site);
  prepare_buffers(call);
  const auto& buffers = call.order.buffers;
  const auto found = engine().collectives().exchange(*communicator_->context, *communicator_->team, kind_,
                                                     Rank{std::max(root_, 0)}, buffers.operand, buffers.result);
  int code = MPI_SUCCESS;
  if (found.mismatch || found.is_complete()) {
    code = concluded(call, found.mismatch, call.order.bytes, false);
  } else {
    prepare_schedule(call, left_of(bytes_of(operand_), found.sent_left), left_of(bytes_of(result_), found.received_left));
    code = call.carry_out();
  }
  if (code == MPI_SUCCESS && (is_odd_ || found.is_truncated))
    return raise_error(*communicator_, MPI_ERR_TRUNCATE, site.function());
  return code;
}

/// Neither side of it is significant then.
void BlockCall::leave_own_part_out() {
  for (Blocks* const side : {&operand_, &result_}) {
    BufferArgument& own = side->size() == 1 ? side->front() : (*side)[static_cast<std::size_t>(communicator_->rank)];
    own = own.without_elements();
  }
}

}  // namespace sluice
