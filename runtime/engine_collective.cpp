// Collective calls of short messages inside a node: what each member publishes in its lane is read by all that want it
// (collective/lane.hpp). One step, however many they are.

#include <algorithm>
#include <utility>

#include "runtime/lane_steps.hpp"
#include "runtime/team_call.hpp"

namespace sluice {

LaneOffer Engine::Collectives::offer_lane() {
  const Lock lock(impl_->mutex);
  return impl_->teams.offer();
}

void Engine::Collectives::take_back(const LaneOffer& offer) {
  const Lock lock(impl_->mutex);
  impl_->teams.take_back(offer);
}

Team* Engine::Collectives::make_team(const Context& context, std::span<const LaneOffer> offers) {
  const Lock lock(impl_->mutex);
  std::vector<Peer> members;
  for (std::size_t rank = 0; rank < offers.size(); ++rank) members.push_back(context.peer(Rank{static_cast<int>(rank)}));
  Team* const team = impl_->teams.make(impl_->job.transport, members, context.self(), offers);
  if (team) team->communicator = context.id();
  return team;
}

void Engine::Collectives::retire(Team& team) {
  const Lock lock(impl_->mutex);
  impl_->teams.retire(team);
}

/// Every member that wants a result reads all parts. Where each gets another part of a payload, that has them all.
std::size_t Engine::Collectives::most_bytes(std::size_t members, Description::Kind kind) {
  constexpr std::size_t most_read = std::size_t{32} << 10;
  switch (kind) {
    case Description::Kind::bcast:
      return Lane::most_bytes;
    case Description::Kind::scatter:
    case Description::Kind::alltoall:
      return Lane::most_bytes / members;
    default:
      return std::min(Lane::most_bytes, most_read / members);
  }
}

template <typename Step>
std::optional<Mismatch> Engine::Collectives::through_lanes(Team& team, const Step& step) {
  TeamCall call(*impl_, team, step.description(team));
  const LaneStep::Publication publication = step.put(team);
  call.publish(publication.readers, publication.reader);
  step.go_on(team);
  call.wait();
  const auto mismatch = team.mismatch();
  if (!mismatch) step.take(team);
  call.finish();
  return mismatch;
}

template std::optional<Mismatch> Engine::Collectives::through_lanes(Team&, const BarrierStep&);
template std::optional<Mismatch> Engine::Collectives::through_lanes(Team&, const BcastStep&);
template std::optional<Mismatch> Engine::Collectives::through_lanes(Team&, const ReduceStep&);
template std::optional<Mismatch> Engine::Collectives::through_lanes(Team&, const ScanStep&);
template std::optional<Mismatch> Engine::Collectives::through_lanes(Team&, const ReduceScatterStep&);
template std::optional<Mismatch> Engine::Collectives::through_lanes(Team&, const GatherStep&);
template std::optional<Mismatch> Engine::Collectives::through_lanes(Team&, const ScatterStep&);
template std::optional<Mismatch> Engine::Collectives::through_lanes(Team&, const AllgatherStep&);
template std::optional<Mismatch> Engine::Collectives::through_lanes(Team&, const AllgathervStep&);
template std::optional<Mismatch> Engine::Collectives::through_lanes(Team&, const AlltoallStep&);

/// It enters the engine only where somebody else may have to go on with it.
Request* Engine::Collectives::start_in_lanes(Context& context, const Team& team, LaneOrder order, CallSite site) {
  Lock lock(impl_->mutex);
  if (impl_->causality.unmatched() != 0) [[unlikely]]
    wait_for_matches(*impl_, lock);
  Request* const request = impl_->lane_calls.start(context, team, std::move(order), site);
  if (impl_->lane_calls.has_duties()) [[unlikely]] {
    const Inside inside(impl_->progress, lock);
  }
  return request;
}

}  // namespace sluice
