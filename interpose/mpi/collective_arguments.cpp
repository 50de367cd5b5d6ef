#include "interpose/mpi/collective_arguments.hpp"

#include <algorithm>

#include "interpose/mpi/reductions.hpp"

namespace sluice {
namespace {

bool fits_lanes(const Communicator& communicator, std::size_t bytes, Description::Kind kind) {
  return communicator.team && bytes <= Engine::Collectives::most_bytes(static_cast<std::size_t>(communicator.size), kind);
}

/// What the calling thread reduced last. Operations and types that have a reduction are predefined, and never freed.
struct LastReduction {
  MPI_Op op = nullptr;
  MPI_Datatype type = nullptr;
  const Reduction* reduction = nullptr;
  const FlatType* flat = nullptr;
};

constinit thread_local LastReduction last_reduction;

const LastReduction& reduction_and_type(MPI_Op op, MPI_Datatype type) {
  if (last_reduction.op == op && last_reduction.type == type) [[likely]]
    return last_reduction;
  last_reduction = {};
  const Reduction* const reduction = reduction_of(op, type);
  const FlatType* const flat = reduction ? flat_type(type) : nullptr;
  if (flat) last_reduction = {op, type, reduction, flat};
  return last_reduction;
}

}  // namespace

bool BcastArguments::carried() const {
  if (!communicator_ || !communicator_->carries_collectives() || !communicator_->has_rank(root_)) return false;
  return buffer_.address() != MPI_IN_PLACE && buffer_.has_type() && buffer_.has_count();
}

bool BcastArguments::goes_through_lanes() const { return fits_lanes(*communicator_, buffer_.bytes(), Description::Kind::bcast); }

ReduceArguments::ReduceArguments(const void* own, void* result, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                                 MPI_Comm comm)
    : communicator_(adopted(comm)),
      operation_(op),
      datatype_(type),
      own_(own),
      result_(result),
      count_(count),
      reduction_(nullptr),
      root_(root) {
  if (!communicator_ || !communicator_->carries_collectives()) return;
  const LastReduction& known = reduction_and_type(op, type);
  reduction_ = known.reduction;
  type_ = known.flat;
  if (!reduction_ && is_own_operation(op)) type_ = flat_type(type);
}

bool ReduceArguments::is_in_order() const {
  if (count_ < 0 || (root_ != no_root && !communicator_->has_rank(root_))) return false;
  return has_result() ? result_ != MPI_IN_PLACE : !is_in_place();
}

/// The padding of a pair is not in its message, and kernels want it there.
bool ReduceArguments::carried() const { return reduction_ && is_in_order() && type_->size == reduction_->element_bytes(); }

/// What would have room in a lane takes the host less time than messages do.
bool ReduceArguments::is_short() const {
  const auto members = static_cast<std::size_t>(communicator_->size);
  return own().bytes() <= Engine::Collectives::most_bytes(members, Description::Kind::allreduce);
}

bool ReduceArguments::carried_by_program() const { return type_ && !carried() && is_in_order() && !is_short(); }

bool ReduceArguments::carried_by_messages() const { return carried_by_program() || carried(); }

std::size_t ReduceArguments::element_bytes() const { return std::max(type_->size, std::size_t{1}); }

std::uint16_t ReduceArguments::code() const {
  constexpr std::uint16_t of_own_operations = 1;  // none of a kernel is
  return reduction_ ? reduction_->code() : of_own_operations;
}

bool ReduceArguments::goes_through_lanes() const {
  const auto kind = root_ == no_root ? Description::Kind::allreduce : Description::Kind::reduce;
  return fits_lanes(*communicator_, static_cast<std::size_t>(count_) * reduction_->element_bytes(), kind);
}

}  // namespace sluice
