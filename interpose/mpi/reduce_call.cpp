#include "interpose/mpi/reduce_call.hpp"

#include <memory>
#include <utility>

#include "interpose/mpi/program_operation.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice {
namespace {

/// As one range, if it is one.
UserBuffer simplified(const UserBuffer& buffer, std::size_t bytes) {
  return buffer.is_contiguous() ? UserBuffer{buffer.data(), bytes, byte_layout()} : buffer;
}

}  // namespace

void place_operands(PreparedCollective& call, const ReduceArguments& arguments, const BufferArgument* result, Shape& shape) {
  CollectiveOrder& order = call.order;
  const UserBuffer own = call.read(arguments.own());
  order.buffers.operand = {simplified(own, own.bytes())};
  if (result) {
    const UserBuffer target = call.write(*result);
    const bool is_one = target.base == own.base;
    shape.in_place = is_one && own.is_contiguous();
    order.buffers.result = {simplified(target, shape.in_place ? own.bytes() : target.bytes())};
    if (is_one && !shape.in_place) order.buffers.operand = {call.copied(own)};
    order.bytes = target.bytes();
  }
  shape.element_bytes = arguments.element_bytes();
  if (arguments.carried()) {
    order.reduction = &arguments.reduction();
  } else {
    order.own_operation = std::make_unique<ProgramOperation>(arguments.operation(), arguments.datatype(), arguments.type());
  }
}

PreparedCollective prepare_reduce(const ReduceArguments& arguments, CallSite site) {
  const auto root = arguments.root();
  PreparedCollective call(arguments.communicator(), site);
  Shape shape = shape_in(call.communicator);
  shape.root = root.value_or(Rank{});
  shape.bytes = arguments.own().bytes();
  const BufferArgument result = arguments.result();
  place_operands(call, arguments, arguments.has_result() ? &result : nullptr, shape);
  call.order.schedule = root ? plans::reduce(shape) : plans::allreduce(shape);
  const OrderKind kind = root ? OrderKind::reduce : OrderKind::allreduce;
  call.order.kind = kind;
  call.order.root = root;
  call.agreed_bytes = shape.bytes;
  call.order.fingerprint = fingerprint(kind, static_cast<std::size_t>(shape.root), arguments.code(), shape.bytes);
  return call;
}

}  // namespace sluice
