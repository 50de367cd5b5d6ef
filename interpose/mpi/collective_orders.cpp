#include "interpose/mpi/collective_orders.hpp"

#include <array>
#include <utility>

#include "interpose/mpi/errors.hpp"
#include "interpose/mpi/handles.hpp"
#include "runtime/base/fatal.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice {
namespace {

/// Long enough for the rendezvous of a message not to matter. Part of what ranks agree on.
constexpr std::size_t max_segment_bytes = std::size_t{128} << 10;

UserBuffer plain(const std::byte* start, std::size_t bytes) { return {const_cast<std::byte*>(start), bytes, byte_layout()}; }

}  // namespace

/// FNV-1a, folded to the width of a tag.
std::uint16_t fingerprint(OrderKind kind, std::size_t root, std::size_t reduction, std::size_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::size_t word : std::array{static_cast<std::size_t>(kind), root, reduction, bytes}) {
    for (unsigned byte = 0; byte < sizeof word; ++byte) hash = (hash ^ (word >> 8 * byte & 0xFF)) * 0x100000001b3u;
  }
  return static_cast<std::uint16_t>(hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48);
}

Shape shape_in(const Communicator& communicator) {
  Shape shape;
  shape.ranks = static_cast<std::size_t>(communicator.size);
  shape.self = Rank{communicator.rank};
  shape.segment_bytes = max_segment_bytes;
  shape.nodes = communicator.nodes;
  return shape;
}

int tell_mismatch(const Communicator& communicator, const Mismatch& found, const char* function) {
  if (errors_are_fatal(communicator.handle) || !found.differs_in_bytes_only()) {
    report("%s, but rank %d of the communicator is in %s", found.own.text().c_str(), static_cast<int>(found.rank),
           found.other.text().c_str());
  }
  return raise_error(communicator, found.differs_in_bytes_only() ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER, function);
}

int carry_out(const Communicator& communicator, CollectiveOrder order, CallSite site) {
  return conclude(engine().collectives().carry_out(*communicator.context, std::move(order), site), communicator, site.function());
}

int start_collective(Communicator& communicator, CollectiveOrder order, std::unique_ptr<StagedReceive> staged, CallSite site,
                     MPI_Request* request) {
  Request* const call = engine().collectives().start(*communicator.context, std::move(order), site);
  *request = handle_for_collective(call, communicator, std::move(staged));
  return MPI_SUCCESS;
}

int start_in_lanes(Communicator& communicator, LaneOrder order, std::unique_ptr<StagedReceive> staged, CallSite site,
                   MPI_Request* request) {
  Request* const call = engine().collectives().start_in_lanes(*communicator.context, *communicator.team, std::move(order), site);
  *request = handle_for_collective(call, communicator, std::move(staged));
  return MPI_SUCCESS;
}

CollectiveOrder barrier_order(const Communicator& communicator) {
  CollectiveOrder order;
  order.schedule = plans::barrier(shape_in(communicator));
  order.fingerprint = fingerprint(OrderKind::barrier);
  order.kind = OrderKind::barrier;
  return order;
}

CollectiveOrder bcast_order(const BcastArguments& call, const UserBuffer& buffer) {
  Shape shape = shape_in(call.communicator());
  shape.root = call.root();
  shape.bytes = buffer.bytes();
  CollectiveOrder order;
  order.schedule = plans::bcast(shape);
  (call.is_root() ? order.buffers.operand : order.buffers.result) = {buffer};
  order.kind = OrderKind::bcast;
  order.root = call.root();
  order.fingerprint = fingerprint(OrderKind::bcast, static_cast<std::size_t>(call.root()), 0, shape.bytes);
  order.bytes = shape.bytes;
  return order;
}

CollectiveOrder reduce_order(const ReduceArguments& call, const std::byte* own, std::byte* result) {
  const auto root = call.root();
  Shape shape = shape_in(call.communicator());
  shape.root = root.value_or(Rank{});
  shape.bytes = call.own().bytes();
  shape.element_bytes = call.reduction().element_bytes();
  shape.in_place = call.has_result() && own == result;
  CollectiveOrder order;
  order.schedule = root ? plans::reduce(shape) : plans::allreduce(shape);
  order.buffers.operand = {plain(own, shape.bytes)};
  if (call.has_result()) order.buffers.result = {plain(result, shape.bytes)};
  order.reduction = &call.reduction();
  order.kind = root ? OrderKind::reduce : OrderKind::allreduce;
  order.root = root;
  order.fingerprint = fingerprint(root ? OrderKind::reduce : OrderKind::allreduce, static_cast<std::size_t>(shape.root),
                                  call.reduction().code(), shape.bytes);
  order.bytes = shape.bytes;
  return order;
}

}  // namespace sluice
