// MPI_Ibarrier, MPI_Ibcast, MPI_Ireduce, MPI_Iallreduce and their persistent forms: by messages, however short they are.

#include "interpose/mpi/host_needs.hpp"
#include "interpose/mpi/reduce_call.hpp"

namespace sluice::calls {
namespace {

using forms::Nonblocking;
using forms::Persistent;
using Prepared = std::optional<PreparedCollective>;

struct BarrierCall {
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
  static Prepared prepare(CallSite site, void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
    const BcastArguments arguments(buffer, count, type, root, comm);
    if (!arguments.carried()) return std::nullopt;
    PreparedCollective call(arguments.communicator(), site);
    const UserBuffer here = arguments.is_root() ? call.read(arguments.buffer()) : call.write(arguments.buffer());
    auto kept = std::move(call.order.kept);
    call.order = bcast_order(arguments, here);
    call.order.kept = std::move(kept);
    call.agreed_bytes = call.order.bytes;
    return call;
  }
  static HostNeeds needs(auto... arguments) { return host_needs::bcast(arguments...); }
};

Prepared prepared(const ReduceArguments& arguments, CallSite site) {
  return arguments.carried() ? Prepared(prepare_reduce(arguments, site)) : std::nullopt;
}

struct ReduceCall {
  static Prepared prepare(CallSite site, const void* own, void* result, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm) {
    return prepared({own, result, count, type, op, root, comm}, site);
  }
  static HostNeeds needs(auto... arguments) { return host_needs::reduce(arguments...); }
};

struct AllreduceCall {
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
