// MPI_Ibarrier, MPI_Ibcast, MPI_Ireduce, MPI_Iallreduce and their persistent forms. Short nonblocking ones go through lanes
// inside a node, all others by messages.

#include "interpose/mpi/host_needs.hpp"
#include "interpose/mpi/reduce_call.hpp"
#include "runtime/lane_steps.hpp"

namespace sluice::calls {
namespace {

using forms::Nonblocking;
using forms::Persistent;
using Prepared = std::optional<PreparedCollective>;

struct BarrierCall {
  static std::optional<ShortCall<BarrierStep>> prepare_short(CallSite site, MPI_Comm comm) {
    Communicator* const communicator = adopted(comm);
    if (!communicator || !communicator->carries_collectives() || !communicator->team) return std::nullopt;
    return ShortCall<BarrierStep>{PreparedBuffers(*communicator, site), {}};
  }
  static Prepared prepare(CallSite site, MPI_Comm comm) {
    Communicator* const communicator = adopted(comm);
    if (!communicator || !communicator->carries_collectives()) return std::nullopt;
    PreparedCollective call(*communicator, site);
    call.order = barrier_order(*communicator);
    return call;
  }
  static HostNeeds needs(MPI_Comm comm) { return host_needs::barrier(comm); }
};

struct BcastCall {
  static std::optional<ShortCall<BcastStep>> prepare_short(CallSite site, void* buffer, MPI_Count count, MPI_Datatype type,
                                                           int root, MPI_Comm comm) {
    const BcastArguments arguments(buffer, count, type, root, comm);
    if (!arguments.carried() || !arguments.goes_through_lanes()) return std::nullopt;
    PreparedBuffers call(arguments.communicator(), site);
    UserBuffer here = arguments.is_root() ? call.read(arguments.buffer()) : call.write(arguments.buffer());
    const std::size_t bytes = here.bytes();
    return ShortCall<BcastStep>{std::move(call), {arguments.root(), std::move(here)}, bytes};
  }
  static Prepared prepare(CallSite site, void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
    const BcastArguments arguments(buffer, count, type, root, comm);
    if (!arguments.carried()) return std::nullopt;
    PreparedCollective call(arguments.communicator(), site);
    const UserBuffer here = arguments.is_root() ? call.read(arguments.buffer()) : call.write(arguments.buffer());
    call.order = bcast_order(arguments, here);
    call.agreed_bytes = call.order.bytes;
    return call;
  }
  static HostNeeds needs(auto... arguments) { return host_needs::bcast(arguments...); }
};

Prepared prepared(const ReduceArguments& arguments, CallSite site) {
  return arguments.carried() ? Prepared(prepare_reduce(arguments, site)) : std::nullopt;
}

std::optional<ShortCall<ReduceStep>> prepared_short(const ReduceArguments& arguments, CallSite site) {
  if (!arguments.carried() || !arguments.goes_through_lanes()) return std::nullopt;
  PreparedBuffers call(arguments.communicator(), site);
  const UserBuffer own = call.read(arguments.own());
  LaneOperands operands{.count = own.bytes() / arguments.element_bytes(), .own = own.base};
  if (arguments.has_result()) operands.result = call.write(arguments.result()).base;
  return ShortCall<ReduceStep>{std::move(call), {arguments.reduction(), operands, arguments.root()}, own.bytes()};
}

struct ReduceCall {
  static auto prepare_short(CallSite site, const void* own, void* result, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                            MPI_Comm comm) {
    return prepared_short({own, result, count, type, op, root, comm}, site);
  }
  static Prepared prepare(CallSite site, const void* own, void* result, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm) {
    return prepared({own, result, count, type, op, root, comm}, site);
  }
  static HostNeeds needs(auto... arguments) { return host_needs::reduce(arguments...); }
};

struct AllreduceCall {
  static auto prepare_short(CallSite site, const void* own, void* result, MPI_Count count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm) {
    return prepared_short({own, result, count, type, op, ReduceArguments::no_root, comm}, site);
  }
  static Prepared prepare(CallSite site, const void* own, void* result, MPI_Count count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
    return prepared({own, result, count, type, op, ReduceArguments::no_root, comm}, site);
  }
  static HostNeeds needs(auto... arguments) { return host_needs::allreduce(arguments...); }
};

constexpr Nonblocking<&HostTable::Ibarrier, BarrierCall> Ibarrier;
constexpr Nonblocking<&HostTable::Ibcast, BcastCall> Ibcast;
constexpr Nonblocking<&HostTable::Ibcast_c, BcastCall> Ibcast_c;
constexpr Nonblocking<&HostTable::Ireduce, ReduceCall> Ireduce;
constexpr Nonblocking<&HostTable::Ireduce_c, ReduceCall> Ireduce_c;
constexpr Nonblocking<&HostTable::Iallreduce, AllreduceCall> Iallreduce;
constexpr Nonblocking<&HostTable::Iallreduce_c, AllreduceCall> Iallreduce_c;
constexpr Persistent<&HostTable::Barrier_init, BarrierCall> Barrier_init;
constexpr Persistent<&HostTable::Bcast_init, BcastCall> Bcast_init;
constexpr Persistent<&HostTable::Bcast_init_c, BcastCall> Bcast_init_c;
constexpr Persistent<&HostTable::Reduce_init, ReduceCall> Reduce_init;
constexpr Persistent<&HostTable::Reduce_init_c, ReduceCall> Reduce_init_c;
constexpr Persistent<&HostTable::Allreduce_init, AllreduceCall> Allreduce_init;
constexpr Persistent<&HostTable::Allreduce_init_c, AllreduceCall> Allreduce_init_c;

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Ibarrier)
EXPORT(Ibcast)
EXPORT(Ibcast_c)
EXPORT(Ireduce)
EXPORT(Ireduce_c)
EXPORT(Iallreduce)
EXPORT(Iallreduce_c)
EXPORT(Barrier_init)
EXPORT(Bcast_init)
EXPORT(Bcast_init_c)
EXPORT(Reduce_init)
EXPORT(Reduce_init_c)
EXPORT(Allreduce_init)
EXPORT(Allreduce_init_c)
