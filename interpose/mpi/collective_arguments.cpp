#include "interpose/mpi/collective_arguments.hpp"

#include "interpose/mpi/reductions.hpp"

namespace sluice {
namespace {

bool is_short(const Communicator& communicator, std::size_t bytes, Description::Kind kind) {
  return bytes <= Engine::Collectives::most_bytes(static_cast<std::size_t>(communicator.size), kind);
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
  if (buffer_.address() == MPI_IN_PLACE || !buffer_.has_type() || !buffer_.has_count()) return false;
  return is_short(*communicator_, buffer_.bytes(), Description::Kind::bcast);
}

ReduceArguments::ReduceArguments(const void* own, void* result, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                                 MPI_Comm comm)
    : communicator_(adopted(comm)), own_(own), result_(result), count_(count), reduction_(nullptr), root_(root) {
  if (!communicator_ || !communicator_->carries_collectives()) return;
  const LastReduction& known = reduction_and_type(op, type);
  reduction_ = known.reduction;
  type_ = known.flat;
}

bool ReduceArguments::carried() const {
  if (!reduction_ || count_ < 0 || (root_ != no_root && !communicator_->has_rank(root_))) return false;
  if (has_result() ? result_ == MPI_IN_PLACE : is_in_place()) return false;
  // The padding of a pair is not in its message: such pairs are the host's.
  if (type_->size != reduction_->element_bytes()) return false;
  const auto kind = root_ == no_root ? Description::Kind::allreduce : Description::Kind::reduce;
  return is_short(*communicator_, static_cast<std::size_t>(count_) * reduction_->element_bytes(), kind);
}

}  // namespace sluice
