#include "runtime/lane_steps.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/collective/teams.hpp"
#include "runtime/guard/user_memory.hpp"
#include "runtime/packing.hpp"

namespace sluice {
namespace {

using Carried = Description::Kind;
using Readers = Team::Readers;

Description description_of(Carried kind, std::size_t bytes, Rank root = Rank{0}) {
  return {.kind = kind, .root = static_cast<std::uint16_t>(root), .bytes = static_cast<std::uint32_t>(bytes)};
}

Description description_of(Carried kind, const Reduction& reduction, const LaneOperands& operands, Rank root = Rank{0}) {
  Description call = description_of(kind, operands.count * reduction.element_bytes(), root);
  call.reduction = reduction.code();
  return call;
}

// --- reductions

void put_operand(Team& team, const Reduction& reduction, const LaneOperands& operands) {
  copy_from_user(team.payload(), operands.own, operands.count * reduction.element_bytes());
}

/// `compute(target)` writes so many bytes, but nothing under guard.
template <typename Compute>
void into_result(std::byte* result, std::size_t bytes, Compute compute) {
  if (!user_memory_is_guarded()) return compute(result);
  alignas(cache_line) std::array<std::byte, Lane::most_bytes> computed;
  compute(computed.data());
  copy_to_user(result, computed.data(), bytes);
}

/// In the canonical order, whoever does it. `own`: this rank's operand.
void fold(const Team& team, const Reduction& reduction, const std::byte* own, std::byte* result,
          const ReduceScatterStep::Strip& strip) {
  const std::size_t offset = strip.first * reduction.element_bytes();
  const std::byte* parts[Teams::most_members];
  for (std::size_t member = 0; member < team.size(); ++member) {
    const Rank rank{static_cast<int>(member)};
    parts[member] = (rank == team.self() ? own : team.part(rank)) + offset;
  }
  const Reduction::Sources sources(parts, team.size());
  into_result(result, strip.elements * reduction.element_bytes(), [&](std::byte* target) {
    reduction.fold(sources, {&target, 1}, strip.elements);
  });
}

/// From left to right, as by messages (plans/scan.cpp).
void fold_prefix(const Team& team, std::size_t members, const Reduction& reduction, const LaneOperands& operands) {
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

// --- blocks

std::size_t own_offset(const Team& team, std::size_t block_bytes) { return static_cast<std::size_t>(team.self()) * block_bytes; }

/// Every other member's part, which begins `offset` bytes into its payload.
void take_parts(const Team& team, const UserBuffer& all, std::size_t block_bytes, std::size_t offset = 0) {
  for (std::size_t member = 0; member < team.size(); ++member) {
    const Rank rank{static_cast<int>(member)};
    if (rank != team.self()) unpack(team.part(rank) + offset, all, member * block_bytes, block_bytes);
  }
}

/// Of a call in which one member has something for each: who waits for that.
void await_root(Team& team, Rank root) {
  if (team.self() == root)
    team.await_nobody();
  else
    team.await(root);
}

LaneStep::Publication by_root(const Team& team, Rank root) {
  return {.readers = team.self() == root ? Readers::all : Readers::none};
}

LaneStep::Publication for_root(const Team& team, Rank root) {
  return {.readers = team.self() == root ? Readers::none : Readers::one, .reader = root};
}

}  // namespace

Description BcastStep::description(const Team& /*team*/) const { return description_of(Carried::bcast, buffer_.bytes(), root_); }

LaneStep::Publication BcastStep::put(Team& team) const {
  if (team.self() == root_) pack(buffer_, 0, team.payload(), buffer_.bytes());
  return by_root(team, root_);
}

void BcastStep::go_on(Team& team) const { await_root(team, root_); }

void BcastStep::take(Team& team) const {
  if (team.self() != root_) unpack(team.part(root_), buffer_, 0, buffer_.bytes());
}

Description ReduceStep::description(const Team& /*team*/) const {
  return description_of(root_ ? Carried::reduce : Carried::allreduce, reduction_, operands_, root_.value_or(Rank{0}));
}

LaneStep::Publication ReduceStep::put(Team& team) const {
  if (!root_ || is_for_root(team)) put_operand(team, reduction_, operands_);
  return root_ ? for_root(team, *root_) : Publication{};
}

void ReduceStep::go_on(Team& team) const {
  if (is_for_root(team))
    team.await_nobody();
  else
    team.await_all();
}

void ReduceStep::take(Team& team) const {
  if (is_for_root(team)) return;
  // The operand of the root nobody else reads. It stays where it is, unless something is under guard.
  const bool is_where_it_was = root_ && !user_memory_is_guarded();
  if (root_ && !is_where_it_was) put_operand(team, reduction_, operands_);
  fold(team, reduction_, is_where_it_was ? operands_.own : team.payload(), operands_.result, {0, operands_.count});
}

Description ScanStep::description(const Team& /*team*/) const { return description_of(kind_, reduction_, operands_); }

LaneStep::Publication ScanStep::put(Team& team) const {
  put_operand(team, reduction_, operands_);
  return {};
}

void ScanStep::take(Team& team) const {
  const std::size_t members = static_cast<std::size_t>(team.self()) + (kind_ == Carried::scan ? 1 : 0);
  if (members != 0) fold_prefix(team, members, reduction_, operands_);
}

Description ReduceScatterStep::description(const Team& /*team*/) const {
  return description_of(Carried::reduce_scatter, reduction_, operands_);
}

LaneStep::Publication ReduceScatterStep::put(Team& team) const {
  put_operand(team, reduction_, operands_);
  return {};
}

void ReduceScatterStep::take(Team& team) const { fold(team, reduction_, team.payload(), operands_.result, own_); }

Description GatherStep::description(const Team& /*team*/) const { return description_of(Carried::gather, block_bytes_, root_); }

LaneStep::Publication GatherStep::put(Team& team) const {
  if (own_) pack(*own_, 0, team.payload(), block_bytes_);
  return for_root(team, root_);
}

void GatherStep::go_on(Team& team) const {
  if (team.self() != root_) return team.await_nobody();
  if (own_) unpack(team.payload(), *all_, static_cast<std::size_t>(root_) * block_bytes_, block_bytes_);
  team.await_all();
}

void GatherStep::take(Team& team) const {
  if (team.self() == root_) take_parts(team, *all_, block_bytes_);
}

Description ScatterStep::description(const Team& team) const {
  return description_of(Carried::scatter, block_bytes_ * team.size(), root_);
}

LaneStep::Publication ScatterStep::put(Team& team) const {
  if (team.self() == root_) pack(*all_, 0, team.payload(), block_bytes_ * team.size());
  return by_root(team, root_);
}

void ScatterStep::go_on(Team& team) const {
  if (team.self() == root_ && own_) unpack(team.payload() + own_offset(team, block_bytes_), *own_, 0, block_bytes_);
  await_root(team, root_);
}

void ScatterStep::take(Team& team) const {
  if (team.self() != root_) unpack(team.part(root_) + own_offset(team, block_bytes_), *own_, 0, block_bytes_);
}

Description AllgatherStep::description(const Team& /*team*/) const { return description_of(Carried::allgather, block_bytes_); }

LaneStep::Publication AllgatherStep::put(Team& team) const {
  pack(own_ ? *own_ : *all_, own_ ? 0 : own_offset(team, block_bytes_), team.payload(), block_bytes_);
  return {};
}

void AllgatherStep::go_on(Team& team) const {
  if (own_ && all_) unpack(team.payload(), *all_, own_offset(team, block_bytes_), block_bytes_);
  team.await_all();
}

void AllgatherStep::take(Team& team) const {
  if (all_) take_parts(team, *all_, block_bytes_);
}

Description AllgathervStep::description(const Team& /*team*/) const { return description_of(Carried::allgather, most_bytes_); }

LaneStep::Publication AllgathervStep::put(Team& team) const {
  const UserBuffer& part = own_ ? *own_ : all_[static_cast<std::size_t>(team.self())];
  pack(part, 0, team.payload(), std::min(part.bytes(), most_bytes_));
  return {};
}

void AllgathervStep::go_on(Team& team) const {
  const auto self = static_cast<std::size_t>(team.self());
  if (own_ && !all_.empty()) unpack(team.payload(), all_[self], 0, all_[self].bytes());
  team.await_all();
}

void AllgathervStep::take(Team& team) const {
  for (std::size_t member = 0; member < all_.size(); ++member) {
    const Rank rank{static_cast<int>(member)};
    if (rank != team.self()) unpack(team.part(rank), all_[member], 0, all_[member].bytes());
  }
}

Description AlltoallStep::description(const Team& team) const {
  return description_of(Carried::alltoall, block_bytes_ * team.size());
}

LaneStep::Publication AlltoallStep::put(Team& team) const {
  pack(sent_, 0, team.payload(), block_bytes_ * team.size());
  return {};
}

void AlltoallStep::go_on(Team& team) const {
  if (all_) unpack(team.payload() + own_offset(team, block_bytes_), *all_, own_offset(team, block_bytes_), block_bytes_);
  team.await_all();
}

void AlltoallStep::take(Team& team) const {
  if (all_) take_parts(team, *all_, block_bytes_, own_offset(team, block_bytes_));
}

}  // namespace sluice
