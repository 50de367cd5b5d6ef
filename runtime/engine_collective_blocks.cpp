// Collective calls through lanes that have a block for each member, whose lengths only pairs of members know. Members publish
// what others get of them, in the order of ranks, and each takes out of the payloads what is its own.

#include <algorithm>
#include <numeric>

#include "runtime/collective/part_table.hpp"
#include "runtime/packing.hpp"
#include "runtime/team_call.hpp"

namespace sluice {
namespace {

Description description(Description::Kind kind, std::size_t bytes, Rank root = Rank{0}) {
  return {.kind = kind, .root = static_cast<std::uint16_t>(root), .bytes = static_cast<std::uint32_t>(bytes)};
}

std::uint64_t bytes_of(std::span<const UserBuffer> buffers) {
  return std::accumulate(buffers.begin(), buffers.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const UserBuffer& buffer) { return sum + buffer.bytes(); });
}

/// This rank's way through a call of parts.
class PartExchange {
 public:
  PartExchange(Team& team, std::span<const UserBuffer> sent, std::span<const UserBuffer> received)
      : team_(team), sent_(sent), received_(received), room_(sent.size()) {
    for (std::size_t i = 0; i < sent.size(); ++i) {
      if (!room_.add(sent[i].bytes())) found_.sent_left |= 1u << i;
    }
  }

  /// Of this rank's payload.
  [[nodiscard]] std::size_t payload_bytes() const { return room_.used(); }
  void pack_parts() const {
    PartTable::Writer table(team_.payload(), sent_.size());
    for (const UserBuffer& part : sent_) {
      if (std::byte* const place = table.add(part.bytes())) pack(part, 0, place, part.bytes());
    }
  }
  /// Entry `entry` of as many as that rank has.
  void take(Rank from, std::size_t entries, std::size_t entry, std::size_t into) {
    const PartTable table(from == team_.self() ? team_.payload() : team_.part(from), entries);
    const UserBuffer& buffer = received_[into];
    const std::uint32_t length = table.length(entry);
    if (length != PartTable::left_out) {
      found_.is_truncated |= length > buffer.bytes();
      unpack(table.part(entry), buffer, 0, std::min<std::size_t>(length, buffer.bytes()));
    } else if (buffer.bytes() != 0) {
      found_.received_left |= 1u << into;
    } else {
      found_.is_truncated = true;
    }
  }
  /// The parts of all, of which each has so many entries.
  void take_all(std::size_t entries, std::size_t entry) {
    for (std::size_t member = 0; member < team_.size(); ++member) {
      const Rank rank{static_cast<int>(member)};
      if (rank != team_.self() || !sent_.empty()) take(rank, entries, entry, member);
    }
  }
  [[nodiscard]] Engine::Collectives::Exchanged& found() { return found_; }

 private:
  static_assert(Teams::most_members <= 32, "a bit for each");

  Team& team_;
  std::span<const UserBuffer> sent_;
  std::span<const UserBuffer> received_;
  PartTable::Room room_;
  Engine::Collectives::Exchanged found_;
};

}  // namespace

Engine::Collectives::Exchanged Engine::Collectives::exchange(Context& context, Team& team, Description::Kind kind, Rank root,
                                                             std::span<const UserBuffer> sent,
                                                             std::span<const UserBuffer> received) {
  PartExchange parts(team, sent, received);
  Description what = description(kind, parts.payload_bytes(), root);
  what.reduction = Description::counted;
  TeamCall call(*impl_, team, what, std::max(bytes_of(sent), bytes_of(received)));
  parts.pack_parts();
  const bool is_root = team.self() == root;
  const auto self = static_cast<std::size_t>(team.self());
  auto& found = parts.found();
  if (kind == Description::Kind::alltoall || (kind == Description::Kind::gather && is_root)) {
    call.publish(is_root && kind == Description::Kind::gather ? Team::Readers::none : Team::Readers::all);
    team.await_all();
    call.wait();
    found.mismatch = team.mismatch();
    if (!found.mismatch && kind == Description::Kind::gather) parts.take_all(1, 0);
    if (!found.mismatch && kind == Description::Kind::alltoall) parts.take_all(team.size(), self);
  } else if (kind == Description::Kind::gather) {
    call.publish(Team::Readers::one, root);
  } else if (is_root) {
    call.publish(Team::Readers::all);
    if (!received.empty()) parts.take(root, team.size(), self, 0);
  } else {
    call.publish(Team::Readers::none);
    team.await(root);
    call.wait();
    found.mismatch = team.mismatch();
    if (!found.mismatch) parts.take(root, team.size(), self, 0);
  }
  call.finish();
  if (found.is_complete()) impl_->collective_calls.pass(context);
  return found;
}

}  // namespace sluice
