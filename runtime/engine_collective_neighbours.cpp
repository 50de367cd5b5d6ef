// Collective calls through lanes between the neighbours of a topology. Members publish what their neighbours get of them, and
// each waits for those alone from which something comes.

#include <algorithm>
#include <numeric>

#include "runtime/collective/edge_table.hpp"
#include "runtime/packing.hpp"
#include "runtime/team_call.hpp"

namespace sluice {
namespace {

using Neighbours = Engine::Collectives::Neighbours;
using NeighboursExchanged = Engine::Collectives::NeighboursExchanged;

std::uint64_t sum_of_bytes(std::span<const UserBuffer> buffers) {
  return std::accumulate(buffers.begin(), buffers.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const UserBuffer& buffer) { return sum + buffer.bytes(); });
}

/// This rank's way through such a call.
class NeighbourExchange {
 public:
  NeighbourExchange(const Team& team, const Neighbours& call)
      : team_(team), call_(call), room_(call.between.destinations.size()), begins_(call.sent.size()) {
    for (std::size_t i = 0; i < begins_.size(); ++i) begins_[i] = room_.add(call.sent[i].bytes());
  }

  [[nodiscard]] Description description() const {
    return {.kind = call_.kind, .reduction = Description::counted, .bytes = static_cast<std::uint32_t>(room_.used())};
  }

  void put(NeighboursExchanged& found) const {
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      if (begins_[i]) pack(call_.sent[i], 0, team_.payload() + *begins_[i], call_.sent[i].bytes());
    }
    const auto& destinations = call_.between.destinations;
    EdgeTable::Writer table(team_.payload(), room_, destinations.size());
    for (std::size_t edge = 0; edge < destinations.size(); ++edge) {
      const std::size_t part = sent_at(edge);
      if (!begins_[part] && destinations[edge].exists() && call_.sent[part].bytes() != 0)
        leave(found.sent_left, destinations, edge);
      if (room_.has_table()) table.add(destinations[edge], begins_[part], call_.sent[part].bytes());
    }
  }

  void take(NeighboursExchanged& found) const {
    const auto& sources = call_.between.sources;
    for (std::size_t edge = 0; edge < sources.size(); ++edge) {
      if (sources[edge].exists()) take(edge, found);
    }
  }

 private:
  [[nodiscard]] std::size_t sent_at(std::size_t edge) const { return call_.sent.size() == 1 ? 0 : edge; }

  static void leave(std::vector<bool>& left, std::span<const Edge> edges, std::size_t edge) {
    left.resize(edges.size());
    left[edge] = true;
  }

  void take(std::size_t edge, NeighboursExchanged& found) const {
    const Edge& from = call_.between.sources[edge];
    const UserBuffer& buffer = call_.received[edge];
    const EdgeTable table(from.rank == team_.self() ? team_.payload() : team_.part(from.rank));
    if (const auto part = table.find(team_.self(), from.part)) {
      found.is_truncated |= part->bytes > buffer.bytes();
      unpack(part->data, buffer, 0, std::min(part->bytes, buffer.bytes()));
    } else if (buffer.bytes() != 0) {
      leave(found.received_left, call_.between.sources, edge);
    }
  }

  const Team& team_;
  const Neighbours& call_;
  EdgeTable::Room room_;
  std::vector<std::optional<std::size_t>> begins_;
};

}  // namespace

NeighboursExchanged Engine::Collectives::exchange(Context& context, Team& team, const Neighbours& call) {
  const NeighbourExchange parts(team, call);
  NeighboursExchanged found;
  TeamCall through(*impl_, team, parts.description(), std::max(sum_of_bytes(call.sent), sum_of_bytes(call.received)));
  parts.put(found);
  through.publish(call.between.destination_ranks);
  team.await_some(call.between.source_ranks);
  through.wait();
  found.mismatch = team.mismatch();
  if (!found.mismatch) parts.take(found);
  through.finish();
  if (found.is_complete()) impl_->collective_calls.pass(context);
  return found;
}

}  // namespace sluice
