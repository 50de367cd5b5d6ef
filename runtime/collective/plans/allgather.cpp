// Every part goes straight to every rank, which copies it once. All at once,
// and rank k begins with k + 1, so that nobody is met by all.
//
// Long parts enter each other node once, at one of its ranks, which hands them
// on there. Ranks of one node share that work. The parts of one node are handed
// on while those of the next node are on their way.

#include "runtime/collective/plans/node_map.hpp"
#include "runtime/collective/plans/parts.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice::plans {
namespace {

class Allgather {
 public:
  explicit Allgather(const Shape& shape) : shape_(shape), map_(shape), node_(map_.node_of(shape.own())) {}

  Schedule schedule() {
    if (is_direct()) {
      all_at_once();
    } else {
      node_by_node();
    }
    if (!shape_.in_place) copy(schedule_.rounds.front(), own_part(), part_of(shape_.own()));
    return finished(std::move(schedule_));
  }

 private:
  [[nodiscard]] Region part_of(std::size_t rank) const { return result(shape_.bytes_from(rank), 0, rank); }
  [[nodiscard]] Region own_part() const {
    return shape_.in_place ? part_of(shape_.own()) : operand(shape_.bytes_from(shape_.own()));
  }

  [[nodiscard]] bool is_direct() const {
    if (map_.nodes() == 1 || map_.most_members() == 1) return true;
    std::size_t all = 0;
    for (std::size_t rank = 0; rank < shape_.ranks; ++rank) all += shape_.bytes_from(rank);
    return all <= shape_.segment_bytes;
  }

  void all_at_once() {
    Round& round = schedule_.rounds.emplace_back();
    for (std::size_t distance = 1; distance < shape_.ranks; ++distance) {
      const std::size_t source = (shape_.own() + shape_.ranks - distance) % shape_.ranks;
      receive(round, source, part_of(source));
      send(round, (shape_.own() + distance) % shape_.ranks, own_part());
    }
  }

  /// Who gets a rank's part on another node.
  [[nodiscard]] std::size_t entry(std::size_t node, std::size_t rank) const {
    const auto& members = map_.members(node);
    return members[map_.index_of(rank) % members.size()];
  }

  void node_by_node() {
    schedule_.rounds.resize(map_.nodes());
    give_to_neighbours(schedule_.rounds[0]);
    for (std::size_t distance = 1; distance < map_.nodes(); ++distance) {
      const std::size_t source = (node_ + map_.nodes() - distance) % map_.nodes();
      cross(schedule_.rounds[distance - 1], source, (node_ + distance) % map_.nodes());
      hand_on(schedule_.rounds[distance], source);
    }
  }

  void give_to_neighbours(Round& round) const {
    const auto& members = map_.members(node_);
    const std::size_t index = map_.index_of(shape_.own());
    for (std::size_t distance = 1; distance < members.size(); ++distance) {
      const std::size_t source = members[(index + members.size() - distance) % members.size()];
      receive(round, source, part_of(source));
      send(round, members[(index + distance) % members.size()], own_part());
    }
  }

  void cross(Round& round, std::size_t source, std::size_t target) const {
    for (const std::size_t rank : map_.members(source)) {
      if (entry(node_, rank) == shape_.own()) receive(round, rank, part_of(rank));
    }
    send(round, entry(target, shape_.own()), own_part());
  }

  void hand_on(Round& round, std::size_t source) const {
    for (const std::size_t rank : map_.members(source)) {
      const std::size_t from = entry(node_, rank);
      if (from != shape_.own()) {
        receive(round, from, part_of(rank));
        continue;
      }
      for (const std::size_t neighbour : map_.members(node_)) {
        if (neighbour != shape_.own()) send(round, neighbour, part_of(rank));
      }
    }
  }

  const Shape& shape_;
  NodeMap map_;
  std::size_t node_;
  Schedule schedule_;
};

}  // namespace

Schedule allgather(const Shape& shape) { return Allgather(shape).schedule(); }

}  // namespace sluice::plans
