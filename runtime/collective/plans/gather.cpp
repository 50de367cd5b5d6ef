// Every part goes straight to the root, which copies it once.

#include "runtime/collective/plans/parts.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice::plans {

Schedule gather(const Shape& shape) {
  Schedule schedule;
  Round& round = schedule.rounds.emplace_back();
  if (!shape.is_root()) {
    send(round, static_cast<std::size_t>(shape.root), operand(shape.bytes));
    return finished(std::move(schedule));
  }
  for (std::size_t distance = 1; distance < shape.ranks; ++distance) {
    const std::size_t peer = (shape.own() + distance) % shape.ranks;
    receive(round, peer, result(shape.bytes_from(peer), 0, peer));
  }
  const std::size_t own = shape.bytes_from(shape.own());
  if (!shape.in_place) copy(round, operand(own), result(own, 0, shape.own()));
  return finished(std::move(schedule));
}

}  // namespace sluice::plans
