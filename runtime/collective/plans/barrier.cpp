// Dissemination (D. Hensgen, R. Finkel, U. Manber, "Two Algorithms for Barrier Synchronization", 1988): after the round with
// distance d a rank knows of the 2d - 1 ranks before it that they have come.

#include "runtime/collective/plans/parts.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice::plans {

Schedule barrier(const Shape& shape) {
  Schedule schedule;
  for (std::size_t distance = 1; distance < shape.ranks; distance *= 2) {
    Round& round = schedule.rounds.emplace_back();
    round.receives.push_back({rank((shape.own() + shape.ranks - distance) % shape.ranks), {}});
    round.sends.push_back({rank((shape.own() + distance) % shape.ranks), {}});
  }
  return schedule;
}

}  // namespace sluice::plans
