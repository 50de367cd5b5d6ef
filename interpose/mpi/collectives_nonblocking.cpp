// MPI_Ibarrier, MPI_Ibcast, MPI_Ireduce and MPI_Iallreduce: by messages, however short they are.

#include <memory>
#include <utility>

#include "interpose/mpi/collective_orders.hpp"
#include "interpose/mpi/host_needs.hpp"

namespace sluice::calls {
namespace {

int Ibarrier(CallSite site, MPI_Comm comm, MPI_Request* request) {
  Communicator* const communicator = adopted(comm);
  if (!request || !communicator || !communicator->carries_collectives())
    return start_on_host([&] { return host_needs::barrier(comm); }, [&] { return host().Ibarrier(comm, request); }, request);
  return start_collective(*communicator, barrier_order(*communicator), nullptr, site, request);
}

template <auto host_call, typename Count>
int ibcast(CallSite site, void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  const BcastArguments call(buffer, count, type, root, comm);
  if (!request || !call.carried())
    return start_on_host([&] { return host_needs::bcast(buffer, count, type, root, comm); },
                         [&] { return (host().*host_call)(buffer, count, type, root, comm, request); }, request);
  call.buffer().settle(call.is_root() ? Access::read : Access::write);
  const UserBuffer own = call.buffer().user_buffer();
  if (!is_on_device(call.buffer())) [[likely]]
    return start_collective(call.communicator(), bcast_order(call, own), nullptr, site, request);
  if (!call.is_root()) {
    auto staged = std::make_unique<StagedReceive>(own, site.function());
    CollectiveOrder order = bcast_order(call, staged->buffer());
    return start_collective(call.communicator(), std::move(order), std::move(staged), site, request);
  }
  auto copy = copy_from_device(own, site.function());
  CollectiveOrder order = bcast_order(call, {copy.get(), own.bytes(), byte_layout()});
  order.kept.push_back(std::move(copy));
  return start_collective(call.communicator(), std::move(order), nullptr, site, request);
}

int ireduce_carried(const ReduceArguments& call, CallSite site, MPI_Request* request) {
  call.own().settle(Access::read);
  if (call.has_result()) call.result().settle(Access::write);
  auto copy = is_on_device(call.own()) ? copy_from_device(call.own().user_buffer(), site.function()) : nullptr;
  auto staged = call.has_result() ? stage_receive(call.result(), site.function()) : nullptr;
  CollectiveOrder order =
      reduce_order(call, copy ? copy.get() : call.own().address(), staged ? staged->buffer().base : call.result().address());
  if (copy) order.kept.push_back(std::move(copy));
  return start_collective(call.communicator(), std::move(order), std::move(staged), site, request);
}

template <auto host_call, typename Count>
int ireduce(CallSite site, const void* own, void* result, Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
            MPI_Request* request) {
  const ReduceArguments call(own, result, count, type, op, root, comm);
  if (request && call.carried()) return ireduce_carried(call, site, request);
  return start_on_host([&] { return host_needs::reduce(own, result, count, type, op, root, comm); },
                       [&] { return (host().*host_call)(own, result, count, type, op, root, comm, request); }, request);
}

template <auto host_call, typename Count>
int iallreduce(CallSite site, const void* own, void* result, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
               MPI_Request* request) {
  const ReduceArguments call(own, result, count, type, op, ReduceArguments::no_root, comm);
  if (request && call.carried()) return ireduce_carried(call, site, request);
  return start_on_host([&] { return host_needs::allreduce(own, result, count, type, op, comm); },
                       [&] { return (host().*host_call)(own, result, count, type, op, comm, request); }, request);
}

constexpr auto Ibcast = ibcast<&HostTable::Ibcast, int>;
constexpr auto Ibcast_c = ibcast<&HostTable::Ibcast_c, MPI_Count>;
constexpr auto Ireduce = ireduce<&HostTable::Ireduce, int>;
constexpr auto Ireduce_c = ireduce<&HostTable::Ireduce_c, MPI_Count>;
constexpr auto Iallreduce = iallreduce<&HostTable::Iallreduce, int>;
constexpr auto Iallreduce_c = iallreduce<&HostTable::Iallreduce_c, MPI_Count>;

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
