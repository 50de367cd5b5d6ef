// MPI_Scan, MPI_Exscan, MPI_Reduce_scatter, MPI_Reduce_scatter_block, their nonblocking and persistent forms. Short ones go
// through lanes inside a node, all others by messages.

#include <utility>
#include <vector>

#include "interpose/mpi/host_needs.hpp"
#include "interpose/mpi/reduce_call.hpp"
#include "runtime/collective/plans/plans.hpp"
#include "runtime/lane_steps.hpp"

namespace sluice::calls {
namespace {

using forms::Blocking;
using forms::Nonblocking;
using forms::Persistent;
using Prepared = std::optional<PreparedCollective>;

/// `kind`: scan or exscan.
Prepared prepare_prefix(OrderKind kind, CallSite site, const void* own, void* result, MPI_Count count, MPI_Datatype type,
                        MPI_Op op, MPI_Comm comm) {
  const ReduceArguments arguments(own, result, count, type, op, ReduceArguments::no_root, comm);
  if (!arguments.carried_by_messages()) return std::nullopt;
  PreparedCollective call(arguments.communicator(), site);
  Shape shape = shape_in(call.communicator);
  shape.bytes = arguments.own().bytes();
  const BufferArgument target = arguments.result();
  const bool has_result = kind == OrderKind::scan || call.communicator.rank != 0;
  place_operands(call, arguments, has_result ? &target : nullptr, shape);
  call.order.schedule = kind == OrderKind::scan ? plans::scan(shape) : plans::exscan(shape);
  call.order.kind = kind;
  call.agreed_bytes = shape.bytes;
  call.order.fingerprint = fingerprint(kind, 0, arguments.code(), shape.bytes);
  return call;
}

/// Answers nothing where the call does not go through lanes.
std::optional<ShortCall<ScanStep>> short_prefix(OrderKind kind, CallSite site, const void* own, void* result, MPI_Count count,
                                                MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const ReduceArguments arguments(own, result, count, type, op, ReduceArguments::no_root, comm);
  if (!arguments.carried() || !arguments.goes_through_lanes()) return std::nullopt;
  PreparedBuffers call(arguments.communicator(), site);
  const bool has_result = kind == OrderKind::scan || call.communicator.rank != 0;
  const UserBuffer operand = call.read(arguments.own());
  LaneOperands operands{.count = static_cast<std::size_t>(count), .own = operand.base};
  if (has_result) operands.result = call.write(arguments.result()).base;
  return ShortCall<ScanStep>{std::move(call), {kind, arguments.reduction(), operands}, operand.bytes()};
}

struct ScanCall {
  static auto prepare_short(CallSite site, auto... arguments) { return short_prefix(OrderKind::scan, site, arguments...); }
  static Prepared prepare(CallSite site, auto... arguments) { return prepare_prefix(OrderKind::scan, site, arguments...); }
  static HostNeeds needs(auto... arguments) { return host_needs::allreduce(arguments...); }
};

struct ExscanCall {
  static auto prepare_short(CallSite site, auto... arguments) { return short_prefix(OrderKind::exscan, site, arguments...); }
  static Prepared prepare(CallSite site, auto... arguments) { return prepare_prefix(OrderKind::exscan, site, arguments...); }
  static HostNeeds needs(auto... arguments) { return host_needs::allreduce(arguments...); }
};

/// The elements of all ranks, if they can be told. `count_of`: of a rank. Asked only where the communicator is adopted.
template <typename CountOf>
std::optional<MPI_Count> sum_of(CountOf count_of, MPI_Comm comm) {
  const Communicator* const communicator = adopted(comm);
  if (!communicator) return std::nullopt;
  MPI_Count all = 0;
  for (int rank = 0; rank < communicator->size; ++rank) {
    if (count_of(rank) < 0) return std::nullopt;
    all += count_of(rank);
  }
  return all;
}

/// Answers nothing where the call does not go through lanes.
template <typename CountOf>
std::optional<ShortCall<ReduceScatterStep>> short_strips(CallSite site, const void* own, void* result, CountOf count_of,
                                                         MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const auto all = sum_of(count_of, comm);
  if (!all) return std::nullopt;
  const ReduceArguments arguments(own, result, *all, type, op, ReduceArguments::no_root, comm);
  if (!arguments.carried() || !arguments.goes_through_lanes()) return std::nullopt;
  PreparedBuffers call(arguments.communicator(), site);
  const int rank = call.communicator.rank;
  ReduceScatterStep::Strip strip{.elements = static_cast<std::size_t>(count_of(rank))};
  for (int lower = 0; lower < rank; ++lower) strip.first += static_cast<std::size_t>(count_of(lower));
  const BufferArgument target(result, count_of(rank), type);
  const LaneOperands operands{
      .count = static_cast<std::size_t>(*all), .own = call.read(arguments.own()).base, .result = call.write(target).base};
  return ShortCall<ReduceScatterStep>{std::move(call), {arguments.reduction(), operands, strip}, target.bytes()};
}

template <typename CountOf>
Prepared prepare_strips(CallSite site, const void* own, void* result, CountOf count_of, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm) {
  const auto all = sum_of(count_of, comm);
  if (!all) return std::nullopt;
  const ReduceArguments arguments(own, result, *all, type, op, ReduceArguments::no_root, comm);
  if (!arguments.carried_by_messages()) return std::nullopt;
  PreparedCollective call(arguments.communicator(), site);
  Shape shape = shape_in(call.communicator);
  const BufferArgument target(result, count_of(call.communicator.rank), type);
  place_operands(call, arguments, &target, shape);
  std::vector<std::size_t> strips;
  for (int rank = 0; rank < call.communicator.size; ++rank)
    strips.push_back(static_cast<std::size_t>(count_of(rank)) * arguments.type().size);
  shape.to = strips;
  call.order.schedule = plans::reduce_scatter(shape);
  call.order.kind = OrderKind::reduce_scatter;
  call.agreed_bytes = arguments.own().bytes();
  call.order.fingerprint = fingerprint(OrderKind::reduce_scatter, 0, arguments.code(), call.agreed_bytes);
  return call;
}

struct ReduceScatterCall {
  static std::optional<ShortCall<ReduceScatterStep>> prepare_short(CallSite site, const void* own, void* result, auto counts,
                                                                   MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    if (!counts) return std::nullopt;
    return short_strips(
        site, own, result, [=](int rank) { return MPI_Count{counts[rank]}; }, type, op, comm);
  }
  static Prepared prepare(CallSite site, const void* own, void* result, auto counts, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
    if (!counts) return std::nullopt;
    return prepare_strips(
        site, own, result, [=](int rank) { return MPI_Count{counts[rank]}; }, type, op, comm);
  }
  static HostNeeds needs(auto... arguments) { return host_needs::reduce_scatter(arguments...); }
};

struct ReduceScatterBlockCall {
  static auto prepare_short(CallSite site, const void* own, void* result, MPI_Count count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm) {
    return short_strips(
        site, own, result, [=](int) { return count; }, type, op, comm);
  }
  static Prepared prepare(CallSite site, const void* own, void* result, MPI_Count count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
    return prepare_strips(
        site, own, result, [=](int) { return count; }, type, op, comm);
  }
  static HostNeeds needs(auto... arguments) { return host_needs::reduce_scatter_block(arguments...); }
};

constexpr Blocking<&HostTable::Scan, ScanCall> Scan;
constexpr Blocking<&HostTable::Scan_c, ScanCall> Scan_c;
constexpr Blocking<&HostTable::Exscan, ExscanCall> Exscan;
constexpr Blocking<&HostTable::Exscan_c, ExscanCall> Exscan_c;
constexpr Blocking<&HostTable::Reduce_scatter, ReduceScatterCall> Reduce_scatter;
constexpr Blocking<&HostTable::Reduce_scatter_c, ReduceScatterCall> Reduce_scatter_c;
constexpr Blocking<&HostTable::Reduce_scatter_block, ReduceScatterBlockCall> Reduce_scatter_block;
constexpr Blocking<&HostTable::Reduce_scatter_block_c, ReduceScatterBlockCall> Reduce_scatter_block_c;
constexpr Nonblocking<&HostTable::Iscan, ScanCall> Iscan;
constexpr Nonblocking<&HostTable::Iscan_c, ScanCall> Iscan_c;
constexpr Nonblocking<&HostTable::Iexscan, ExscanCall> Iexscan;
constexpr Nonblocking<&HostTable::Iexscan_c, ExscanCall> Iexscan_c;
constexpr Nonblocking<&HostTable::Ireduce_scatter, ReduceScatterCall> Ireduce_scatter;
constexpr Nonblocking<&HostTable::Ireduce_scatter_c, ReduceScatterCall> Ireduce_scatter_c;
constexpr Nonblocking<&HostTable::Ireduce_scatter_block, ReduceScatterBlockCall> Ireduce_scatter_block;
constexpr Nonblocking<&HostTable::Ireduce_scatter_block_c, ReduceScatterBlockCall> Ireduce_scatter_block_c;
constexpr Persistent<&HostTable::Scan_init, ScanCall> Scan_init;
constexpr Persistent<&HostTable::Scan_init_c, ScanCall> Scan_init_c;
constexpr Persistent<&HostTable::Exscan_init, ExscanCall> Exscan_init;
constexpr Persistent<&HostTable::Exscan_init_c, ExscanCall> Exscan_init_c;
constexpr Persistent<&HostTable::Reduce_scatter_init, ReduceScatterCall> Reduce_scatter_init;
constexpr Persistent<&HostTable::Reduce_scatter_init_c, ReduceScatterCall> Reduce_scatter_init_c;
constexpr Persistent<&HostTable::Reduce_scatter_block_init, ReduceScatterBlockCall> Reduce_scatter_block_init;
constexpr Persistent<&HostTable::Reduce_scatter_block_init_c, ReduceScatterBlockCall> Reduce_scatter_block_init_c;

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Scan)
EXPORT(Scan_c)
EXPORT(Exscan)
EXPORT(Exscan_c)
EXPORT(Reduce_scatter)
EXPORT(Reduce_scatter_c)
EXPORT(Reduce_scatter_block)
EXPORT(Reduce_scatter_block_c)
EXPORT(Iscan)
EXPORT(Iscan_c)
EXPORT(Iexscan)
EXPORT(Iexscan_c)
EXPORT(Ireduce_scatter)
EXPORT(Ireduce_scatter_c)
EXPORT(Ireduce_scatter_block)
EXPORT(Ireduce_scatter_block_c)
EXPORT(Scan_init)
EXPORT(Scan_init_c)
EXPORT(Exscan_init)
EXPORT(Exscan_init_c)
EXPORT(Reduce_scatter_init)
EXPORT(Reduce_scatter_init_c)
EXPORT(Reduce_scatter_block_init)
EXPORT(Reduce_scatter_block_init_c)
