// A reduction goes along the tree where a rank's share would be shorter than a segment: starting a message is what costs then.

#include "runtime/collective/plans/reduce.hpp"

#include "runtime/collective/plans/parts.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice::plans {
namespace {

Schedule alone(const Shape& shape) {
  Schedule schedule;
  if (!shape.in_place) copy(schedule.rounds.emplace_back(), operand(shape.bytes), result(shape.bytes));
  return finished(std::move(schedule));
}

bool is_short(const Shape& shape) { return shape.bytes / shape.ranks < shape.segment_bytes; }

}  // namespace

Schedule reduce(const Shape& shape) {
  if (shape.bytes == 0) return {};
  if (shape.ranks == 1) return alone(shape);
  return is_short(shape) ? reduce_along_tree(shape) : reduce_by_strips(shape);
}

Schedule allreduce(const Shape& shape) {
  if (shape.bytes == 0) return {};
  if (shape.ranks == 1) return alone(shape);
  return is_short(shape) ? allreduce_along_tree(shape) : allreduce_by_strips(shape);
}

}  // namespace sluice::plans
