// MPI_Barrier, MPI_Bcast, MPI_Reduce and MPI_Allreduce. Short ones inside a node go through lanes, others by messages.

#include <cstring>
#include <utility>

#include "interpose/device/buffers.hpp"
#include "interpose/mpi/collective_arguments.hpp"
#include "interpose/mpi/collective_orders.hpp"
#include "interpose/mpi/host_needs.hpp"
#include "interpose/mpi/reduce_call.hpp"
#include "runtime/lane_steps.hpp"

namespace sluice::calls {
namespace {

int conclude(const Communicator& communicator, const std::optional<Mismatch>& mismatch, CallSite site) {
  if (!mismatch) [[likely]]
    return MPI_SUCCESS;
  return tell_mismatch(communicator, *mismatch, site.function());
}

int Barrier(CallSite site, MPI_Comm comm) {
  const Communicator* const communicator = adopted(comm);
  if (!communicator || !communicator->carries_collectives()) {
    const HostCall call([&] { return host_needs::barrier(comm); });
    return host().Barrier(comm);
  }
  if (communicator->is_alone()) return MPI_SUCCESS;
  if (!communicator->team) return carry_out(*communicator, barrier_order(*communicator), site);
  return conclude(*communicator, engine().collectives().through_lanes(*communicator->team, BarrierStep()), site);
}

/// With the buffer where the processor reaches it.
int bcast_here(const BcastArguments& call, UserBuffer buffer, CallSite site) {
  if (!call.goes_through_lanes()) return carry_out(call.communicator(), bcast_order(call, buffer), site);
  const BcastStep step(call.root(), std::move(buffer));
  return conclude(call.communicator(), engine().collectives().through_lanes(*call.communicator().team, step), site);
}

/// The message of a device goes through host memory, on this rank alone.
int bcast_on_device(const BcastArguments& call, CallSite site) {
  const UserBuffer device = call.buffer().user_buffer();
  if (call.is_root()) {
    const auto copy = copy_from_device(device, site.function());
    return bcast_here(call, {copy.get(), device.bytes(), byte_layout()}, site);
  }
  StagedReceive staged(device, site.function());
  const int code = bcast_here(call, staged.buffer(), site);
  if (code == MPI_SUCCESS) staged.deliver(device.bytes());
  return code;
}

template <auto host_call, typename Count>
int bcast(CallSite site, void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  const BcastArguments call(buffer, count, type, root, comm);
  if (!call.carried()) {
    const HostCall host_call_here([&] { return host_needs::bcast(buffer, count, type, root, comm); });
    return (host().*host_call)(buffer, count, type, root, comm);
  }
  if (call.communicator().is_alone()) return MPI_SUCCESS;
  call.buffer().settle(call.is_root() ? Access::read : Access::write);
  if (is_on_device(call.buffer())) [[unlikely]]
    return bcast_on_device(call, site);
  return bcast_here(call, call.buffer().user_buffer(), site);
}

/// With operand and result where the processor reaches them.
int reduce_here(const ReduceArguments& call, const std::byte* own, std::byte* result, CallSite site) {
  const std::size_t bytes = call.own().bytes();
  if (call.communicator().is_alone()) {
    if (bytes != 0 && own != result) std::memcpy(result, own, bytes);
    return MPI_SUCCESS;
  }
  if (!call.goes_through_lanes()) return carry_out(call.communicator(), reduce_order(call, own, result), site);
  const ReduceStep step(call.reduction(), {.count = bytes / call.reduction().element_bytes(), .own = own, .result = result},
                        call.root());
  return conclude(call.communicator(), engine().collectives().through_lanes(*call.communicator().team, step), site);
}

int reduce_on_device(const ReduceArguments& call, CallSite site) {
  const UserBuffer own = call.own().user_buffer();
  const auto copy = is_on_device(call.own()) ? copy_from_device(own, site.function()) : nullptr;
  const std::byte* const operand = copy ? copy.get() : own.data();
  const auto staged = call.has_result() ? stage_receive(call.result(), site.function()) : nullptr;
  const int code = reduce_here(call, operand, staged ? staged->buffer().base : call.result().address(), site);
  if (staged && code == MPI_SUCCESS) staged->deliver(own.bytes());
  return code;
}

int reduce_carried(const ReduceArguments& call, CallSite site) {
  call.own().settle(Access::read);
  if (call.has_result()) call.result().settle(Access::write);
  if (is_on_device(call.own()) || (call.has_result() && is_on_device(call.result()))) [[unlikely]]
    return reduce_on_device(call, site);
  return reduce_here(call, call.own().address(), call.result().address(), site);
}

template <auto host_call, typename Count>
int reduce(CallSite site, const void* own, void* result, Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const ReduceArguments call(own, result, count, type, op, root, comm);
  if (call.carried()) return reduce_carried(call, site);
  if (call.carried_by_program()) return prepare_reduce(call, site).carry_out();
  const HostCall host_call_here([&] { return host_needs::reduce(own, result, count, type, op, root, comm); });
  return (host().*host_call)(own, result, count, type, op, root, comm);
}

template <auto host_call, typename Count>
int allreduce(CallSite site, const void* own, void* result, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const ReduceArguments call(own, result, count, type, op, ReduceArguments::no_root, comm);
  if (call.carried()) return reduce_carried(call, site);
  if (call.carried_by_program()) return prepare_reduce(call, site).carry_out();
  const HostCall host_call_here([&] { return host_needs::allreduce(own, result, count, type, op, comm); });
  return (host().*host_call)(own, result, count, type, op, comm);
}

constexpr auto Bcast = bcast<&HostTable::Bcast, int>;
constexpr auto Bcast_c = bcast<&HostTable::Bcast_c, MPI_Count>;
constexpr auto Reduce = reduce<&HostTable::Reduce, int>;
constexpr auto Reduce_c = reduce<&HostTable::Reduce_c, MPI_Count>;
constexpr auto Allreduce = allreduce<&HostTable::Allreduce, int>;
constexpr auto Allreduce_c = allreduce<&HostTable::Allreduce_c, MPI_Count>;

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Barrier)
EXPORT(Bcast)
EXPORT(Bcast_c)
EXPORT(Reduce)
EXPORT(Reduce_c)
EXPORT(Allreduce)
EXPORT(Allreduce_c)
