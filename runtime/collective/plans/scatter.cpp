// Every part goes straight from the root to its rank, which copies it once.

#include "runtime/collective/plans/parts.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice::plans {

Schedule scatter(const Shape& shape) {
  Schedule schedule;
  Round& round = schedule.rounds.emplace_back();
  if (!shape.is_root()) {
    receive(round, static_cast<std::size_t>(shape.root), result(shape.bytes));
    return finished(std::move(schedule));
  }
  for (std::size_t distance = 1; distance < shape.ranks; ++distance) {
    const std::size_t peer = (shape.own() + distance) % shape.ranks;
    send(round, peer, operand(shape.bytes_to(peer), 0, peer));
  }
  const std::size_t own = shape.bytes_to(shape.own());
  if (!shape.in_place) copy(round, operand(own, 0, shape.own()), result(own));
  return finished(std::move(schedule));
}

}  // namespace sluice::plans
