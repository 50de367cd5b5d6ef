#include "runtime/collective/teams.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

LaneOffer Teams::offer() {
  if (free_.empty() && !retired_.empty() && retired_.front().is_over()) {
    const Used over = std::move(retired_.front());
    retired_.pop_front();
    free_.push_back({.next = over.next(), .lane = over.offer.lane});
  }
  if (!free_.empty()) {
    const LaneOffer offer = free_.back();
    free_.pop_back();
    return offer;
  }
  return fresh_ < lanes_ ? LaneOffer{.next = 1, .lane = fresh_++} : LaneOffer{};
}

void Teams::take_back(const LaneOffer& offer) {
  if (offer.lane != LaneOffer::none) free_.push_back(offer);
}

Team* Teams::make(const LaneMemory* memory, std::span<const Peer> members, Rank self, std::span<const LaneOffer> offers) {
  const LaneOffer& own = offers[static_cast<std::size_t>(self)];
  std::vector<Team::Member> team;
  std::vector<Team::Member> started;
  std::uint64_t first = 0;
  for (std::size_t member = 0; member < members.size(); ++member) {
    const LaneOffer& offer = offers[member];
    std::byte* const lane = memory && offer.lane != LaneOffer::none ? memory->lane(members[member], offer.lane) : nullptr;
    if (!lane) {
      take_back(own);
      return nullptr;
    }
    team.push_back({members[member], Lane(lane), memory->wake_mask_of(members[member])});
    started.push_back(team.back());
    started.back().lane = Lane(lane, Lane::Of::nonblocking_calls);
    first = std::max(first, offer.next);
  }
  teams_.push_back({.started = std::make_unique<StartedCalls>(std::move(started), self, first),
                    .team = std::make_unique<Team>(std::move(team), self, first),
                    .offer = own});
  const Used& made = teams_.back();
  made.team->started = made.started.get();
  return made.team.get();
}

void Teams::retire(Team& team) {
  const auto found = std::find_if(teams_.begin(), teams_.end(), [&](const Used& used) { return used.team.get() == &team; });
  if (found == teams_.end()) return;
  team.end();
  found->started->close();
  retired_.push_back(std::move(*found));
  teams_.erase(found);
}

}  // namespace sluice
