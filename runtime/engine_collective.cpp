// Collective calls of short messages inside a node: what each member publishes in its lane is read by all that want it
// (collective/lane.hpp). One step, however many they are.

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/guard/user_memory.hpp"
#include "runtime/packing.hpp"
#include "runtime/team_call.hpp"

namespace sluice {
namespace {

/// This rank's operand: in the lane if it was published. Otherwise nobody else reads it, and it stays where it is, or is copied
/// into the slot if something is under guard.
const std::byte* own_part(const Team& team, const Engine::Collectives::Operands& operands, std::size_t bytes) {
  if (!operands.root) return team.payload();
  if (!user_memory_is_guarded()) return operands.own;
  copy_from_user(team.payload(), operands.own, bytes);
  return team.payload();
}

/// `compute(target)` writes so many bytes, but nothing under guard.
template <typename Compute>
void into_result(std::byte* result, std::size_t bytes, Compute compute) {
  if (!user_memory_is_guarded()) return compute(result);
  alignas(cache_line) std::array<std::byte, Lane::most_bytes> computed;
  compute(computed.data());
  copy_to_user(result, computed.data(), bytes);
}

/// In the canonical order, whoever does it.
void fold(const Team& team, const Reduction& reduction, const Engine::Collectives::Operands& operands,
          const Engine::Collectives::Strip& strip) {
  const std::size_t offset = strip.first * reduction.element_bytes();
  const std::byte* parts[Teams::most_members];
  for (std::size_t member = 0; member < team.size(); ++member) {
    const Rank rank{static_cast<int>(member)};
    const bool is_own = rank == team.self();
    parts[member] = (is_own ? own_part(team, operands, operands.count * reduction.element_bytes()) : team.part(rank)) + offset;
  }
  const Reduction::Sources sources(parts, team.size());
  into_result(operands.result, strip.elements * reduction.element_bytes(), [&](std::byte* target) {
    reduction.fold(sources, {&target, 1}, strip.elements);
  });
}

/// From left to right, as by messages (plans/scan.cpp).
void fold_prefix(const Team& team, std::size_t members, const Reduction& reduction,
                 const Engine::Collectives::Operands& operands) {
  const std::size_t bytes = operands.count * reduction.element_bytes();
  const auto part = [&](std::size_t member) {
    const Rank rank{static_cast<int>(member)};
    return rank == team.self() ? team.payload() : team.part(rank);
  };
  into_result(operands.result, bytes, [&](std::byte* target) {
    if (members == 1) std::memcpy(target, part(0), bytes);
    for (std::size_t member = 1; member < members; ++member)
      reduction.combine(member == 1 ? part(0) : target, part(member), target, operands.count);
  });
}

}  // namespace

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

std::optional<Mismatch> Engine::Collectives::barrier(Team& team) {
  TeamCall call(*impl_, team, {.kind = Description::Kind::barrier});
  call.publish(Team::Readers::all);
  team.await_all();
  call.wait();
  const auto mismatch = team.mismatch();
  call.finish();
  return mismatch;
}

std::optional<Mismatch> Engine::Collectives::bcast(Team& team, Rank root, const UserBuffer& buffer) {
  const std::size_t bytes = buffer.bytes();
  TeamCall call(
      *impl_, team,
      {.kind = Description::Kind::bcast, .root = static_cast<std::uint16_t>(root), .bytes = static_cast<std::uint32_t>(bytes)});
  std::optional<Mismatch> mismatch;
  if (team.self() == root) {
    pack(buffer, 0, team.payload(), bytes);
    call.publish(Team::Readers::all);
  } else {
    call.publish(Team::Readers::none);
    team.await(root);
    call.wait();
    mismatch = team.mismatch();
    if (!mismatch) unpack(team.part(root), buffer, 0, bytes);
  }
  call.finish();
  return mismatch;
}

std::optional<Mismatch> Engine::Collectives::reduce(Team& team, const Reduction& reduction, const Operands& operands) {
  const std::size_t bytes = operands.count * reduction.element_bytes();
  const bool has_root = operands.root.has_value();
  TeamCall call(*impl_, team,
                {.kind = has_root ? Description::Kind::reduce : Description::Kind::allreduce,
                 .reduction = reduction.code(),
                 .root = static_cast<std::uint16_t>(operands.root.value_or(Rank{0})),
                 .bytes = static_cast<std::uint32_t>(bytes)});
  const bool is_root = has_root && *operands.root == team.self();
  if (!is_root) copy_from_user(team.payload(), operands.own, bytes);
  std::optional<Mismatch> mismatch;
  if (has_root && !is_root) {
    call.publish(Team::Readers::one, *operands.root);
  } else {
    call.publish(has_root ? Team::Readers::none : Team::Readers::all);
    team.await_all();
    call.wait();
    mismatch = team.mismatch();
    if (!mismatch) fold(team, reduction, operands, {0, operands.count});
  }
  call.finish();
  return mismatch;
}

std::optional<Mismatch> Engine::Collectives::scan(Team& team, Description::Kind kind, const Reduction& reduction,
                                                  const Operands& operands) {
  const std::size_t bytes = operands.count * reduction.element_bytes();
  TeamCall call(*impl_, team, {.kind = kind, .reduction = reduction.code(), .bytes = static_cast<std::uint32_t>(bytes)});
  copy_from_user(team.payload(), operands.own, bytes);
  call.publish(Team::Readers::all);
  team.await_lower();
  call.wait();
  const auto mismatch = team.mismatch();
  const std::size_t members = static_cast<std::size_t>(team.self()) + (kind == Description::Kind::scan ? 1 : 0);
  if (!mismatch && members != 0) fold_prefix(team, members, reduction, operands);
  call.finish();
  return mismatch;
}

std::optional<Mismatch> Engine::Collectives::reduce_scatter(Team& team, const Reduction& reduction, const Operands& operands,
                                                            Strip own) {
  const std::size_t bytes = operands.count * reduction.element_bytes();
  TeamCall call(
      *impl_, team,
      {.kind = Description::Kind::reduce_scatter, .reduction = reduction.code(), .bytes = static_cast<std::uint32_t>(bytes)});
  copy_from_user(team.payload(), operands.own, bytes);
  call.publish(Team::Readers::all);
  team.await_all();
  call.wait();
  const auto mismatch = team.mismatch();
  if (!mismatch) fold(team, reduction, operands, own);
  call.finish();
  return mismatch;
}

}  // namespace sluice
