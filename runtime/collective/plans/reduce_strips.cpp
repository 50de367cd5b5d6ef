// Each rank folds one strip of the vector, so each byte is moved and folded once. Between nodes only what their ranks have in
// common goes, once for each subtree of the canonical order that lies on one node.
//
// Rank m of each node owns strip m there, and of this strip the part that has the number of its node. A strip goes in segments.
// Each stage of a segment is one round, and the segment behind it is one stage behind:
//
//   collect   inside each node, the owner gets its strip of all others
//   join      it folds what is a subtree
//   exchange  between nodes, the owner of a part gets it of the owners of that strip on other nodes
//   fold      it folds them: the result of that part
//   spread    Allreduce: to the owners of that strip on other nodes. Reduce: to the root
//   hand      Allreduce: inside each node, to all others
//
// On one node, join is the fold. With one rank on each there is no collect, join and hand. The number of a message's round
// follows from its stage and segment, on both sides: whoever is furthest behind finds its partner there.

#include "runtime/collective/plans/node_map.hpp"
#include "runtime/collective/plans/partials.hpp"
#include "runtime/collective/plans/parts.hpp"
#include "runtime/collective/plans/reduce.hpp"

namespace sluice::plans {
namespace {

enum class Kind : std::uint8_t { reduce, allreduce };

/// In which round after its first one a segment is in which stage.
struct Stages {
  Stages(const NodeMap& map, Kind kind) : are_near(map.most_members() > 1), are_far(map.nodes() > 1) {
    if (are_near) collect = count++;
    if (are_near) join = count++;
    if (are_far) exchange = count++;
    if (are_far) fold = count++;
    last_read = count - 1;
    if (are_far || kind == Kind::reduce) spread = count++;
    if (are_near && kind == Kind::allreduce) hand = count++;
    if (kind == Kind::reduce) last_read = spread;
  }

  bool are_near;  // some ranks share a node
  bool are_far;   // there are several nodes
  std::size_t collect = 0;
  std::size_t join = 0;
  std::size_t exchange = 0;
  std::size_t fold = 0;
  std::size_t spread = 0;
  std::size_t hand = 0;
  std::size_t count = 0;
  std::size_t last_read = 0;  // of scratch memory
};

/// What is whose.
class Strips {
 public:
  Strips(const Shape& shape, const NodeMap& map, const Stages& stages)
      : whole_{0, shape.bytes}, element_bytes_(shape.element_bytes), owners_(map.least_members()), nodes_(map.nodes()) {
    const std::size_t pieces = whole_.bytes / (owners_ * nodes_) / std::max<std::size_t>(1, shape.segment_bytes);
    segments_ = std::clamp<std::size_t>(pieces, 1, most_segments(stages.count));
  }

  /// On each node, the first of its ranks.
  [[nodiscard]] std::size_t owners() const { return owners_; }
  [[nodiscard]] std::size_t segments() const { return segments_; }
  [[nodiscard]] Part segment(std::size_t owner, std::size_t i) const {
    return whole_.cut(owners_, owner, element_bytes_).cut(segments_, i, element_bytes_);
  }
  [[nodiscard]] Part part(std::size_t owner, std::size_t i, std::size_t node) const {
    return segment(owner, i).cut(nodes_, node, element_bytes_);
  }

 private:
  Part whole_;
  std::size_t element_bytes_;
  std::size_t owners_;
  std::size_t nodes_;
  std::size_t segments_;
};

/// Pieces of equal size, some for each segment. A segment has them until so many others have come.
struct Slots {
  std::size_t begin = 0;
  std::size_t slot_bytes = 0;
  std::size_t of_a_segment = 0;
  std::size_t segments = 1;

  [[nodiscard]] std::size_t end() const { return begin + slot_bytes * of_a_segment * segments; }
  [[nodiscard]] Region at(std::size_t i, std::size_t index, std::size_t bytes) const {
    return scratch(bytes, begin + (i % segments * of_a_segment + index) * slot_bytes);
  }
};

class ReduceByStrips {
 public:
  ReduceByStrips(const Shape& shape, Kind kind)
      : shape_(shape),
        kind_(kind),
        map_(shape),
        node_(map_.node_of(shape.own())),
        index_(map_.index_of(shape.own())),
        stages_(map_, kind),
        strips_(shape, map_, stages_),
        partials_(shape.ranks, map_),
        folded_(strips_.segments()) {
    if (is_owner()) lay_out_scratch();
  }

  Schedule schedule() {
    std::vector<Round>& rounds = schedule_.rounds;
    rounds.resize(strips_.segments() + stages_.count - 1);
    for (std::size_t i = 0; i < strips_.segments(); ++i) {
      if (stages_.are_near) collect(rounds[i + stages_.collect], i);
      if (stages_.are_near && is_owner()) join(rounds[i + stages_.join], i);
      if (stages_.are_far && is_owner()) exchange(rounds[i + stages_.exchange], i);
      if (stages_.are_far && is_owner()) fold(rounds[i + stages_.fold], i);
      if (kind_ == Kind::reduce) give_to_root(rounds[i + stages_.spread], i);
      if (kind_ == Kind::allreduce && stages_.are_far && is_owner()) spread(rounds[i + stages_.spread], i);
      if (kind_ == Kind::allreduce && stages_.are_near) hand(rounds[i + stages_.hand], i);
    }
    return finished(std::move(schedule_));
  }

 private:
  [[nodiscard]] bool is_owner() const { return index_ < strips_.owners(); }
  [[nodiscard]] bool has_result() const { return kind_ == Kind::allreduce || shape_.is_root(); }
  [[nodiscard]] const std::vector<std::size_t>& neighbours() const { return map_.members(node_); }
  [[nodiscard]] Part own_part(std::size_t i) const { return strips_.part(index_, i, node_); }

  void lay_out_scratch() {
    const auto lifetime = [&](std::size_t first) { return std::min(stages_.last_read - first + 1, strips_.segments()); };
    near_ = {0, padded(strips_.segment(index_, 0).bytes), neighbours().size() - 1, lifetime(stages_.collect)};
    far_ = {near_.end(), padded(own_part(0).bytes), partials_.all().size(), lifetime(stages_.exchange)};
    if (!stages_.are_far) far_.of_a_segment = 0;
    schedule_.scratch_bytes = far_.end();
  }

  [[nodiscard]] Region near_slot(std::size_t rank, std::size_t i) const {
    const std::size_t index = map_.index_of(rank);
    return near_.at(i, index < index_ ? index : index - 1, strips_.segment(index_, i).bytes);
  }

  /// What this node has of a segment of this rank's strip.
  [[nodiscard]] Region own_partial(const Partial& partial, std::size_t i) const {
    if (partial.first != shape_.own()) return near_slot(partial.first, i);
    if (partial.count > 1) return near_slot(partial.first + 1, i);
    const Part segment = strips_.segment(index_, i);
    return operand(segment.bytes, segment.begin);
  }
  [[nodiscard]] Region own_partial(const Partial& partial, std::size_t i, const Part& part) const {
    Region region = own_partial(partial, i);
    region.begin += part.begin - strips_.segment(index_, i).begin;
    region.bytes = part.bytes;
    return region;
  }

  void collect(Round& round, std::size_t i) const {
    const std::size_t members = neighbours().size();
    for (std::size_t distance = 1; distance < members; ++distance) {
      const std::size_t source = neighbours()[(index_ + members - distance) % members];
      const std::size_t target = (index_ + distance) % members;
      if (is_owner()) receive(round, source, near_slot(source, i));
      if (target >= strips_.owners()) continue;
      const Part segment = strips_.segment(target, i);
      send(round, neighbours()[target], operand(segment.bytes, segment.begin));
    }
  }

  void join(Round& round, std::size_t i) {
    const Part segment = strips_.segment(index_, i);
    if (segment.bytes == 0) return;
    for (const Partial& partial : partials_.all()) {
      if (partial.node != node_ || partial.count == 1) continue;
      Round::Local& all = round.local.emplace_back();
      for (std::size_t rank = partial.first; rank < partial.first + partial.count; ++rank) {
        all.sources.push_back(rank == shape_.own() ? operand(segment.bytes, segment.begin) : near_slot(rank, i));
      }
      const bool is_all = !stages_.are_far;
      all.target = is_all && has_result() ? result(segment.bytes, segment.begin) : own_partial(partial, i);
      if (is_all) folded_[i] = all.target;
    }
  }

  void exchange(Round& round, std::size_t i) const {
    for (std::size_t distance = 1; distance < map_.nodes(); ++distance) {
      const std::size_t source = (node_ + map_.nodes() - distance) % map_.nodes();
      const std::size_t target = (node_ + distance) % map_.nodes();
      for (std::size_t number = 0; number < partials_.all().size(); ++number) {
        const Partial& partial = partials_.all()[number];
        if (partial.node == source) receive(round, map_.members(source)[index_], far_.at(i, number, own_part(i).bytes));
        if (partial.node != node_) continue;
        send(round, map_.members(target)[index_], own_partial(partial, i, strips_.part(index_, i, target)));
      }
    }
  }

  [[nodiscard]] Region final_target(const Region& lower, const Region& upper, const Part& part) const {
    if (has_result()) return result(part.bytes, part.begin);
    return lower.area == Region::Area::scratch ? lower : upper;
  }

  void fold(Round& round, std::size_t i) {
    const Part part = own_part(i);
    if (part.bytes == 0) return;
    std::size_t number = 0;
    const auto value = [&](const Partial& partial) {
      const Region far = far_.at(i, number++, part.bytes);
      return partial.node == node_ ? own_partial(partial, i, part) : far;
    };
    if (partials_.are_canonical()) {
      std::vector<Region> sources;
      for (const Partial& partial : partials_.all()) sources.push_back(value(partial));
      folded_[i] = final_target(sources[0], sources[1], part);
      round.local.push_back({std::move(sources), folded_[i]});
      return;
    }
    folded_[i] = partials_.fold(value, [&](const Region& lower, const Region& upper, bool is_last) {
      const Region target = is_last ? final_target(lower, upper, part) : lower.area == Region::Area::scratch ? lower : upper;
      combine(round, lower, upper, target);
      return target;
    });
  }

  void give_to_root(Round& round, std::size_t i) const {
    if (!shape_.is_root()) {
      if (is_owner()) send(round, static_cast<std::size_t>(shape_.root), folded_[i]);
      return;
    }
    for (std::size_t distance = 0; distance < map_.nodes(); ++distance) {
      const std::size_t node = (node_ + distance) % map_.nodes();
      for (std::size_t owner = 0; owner < strips_.owners(); ++owner) {
        const std::size_t source = map_.members(node)[owner];
        const Part part = strips_.part(owner, i, node);
        if (source != shape_.own()) receive(round, source, result(part.bytes, part.begin));
      }
    }
  }

  void spread(Round& round, std::size_t i) const {
    for (std::size_t distance = 1; distance < map_.nodes(); ++distance) {
      const std::size_t source = (node_ + map_.nodes() - distance) % map_.nodes();
      const Part theirs = strips_.part(index_, i, source);
      receive(round, map_.members(source)[index_], result(theirs.bytes, theirs.begin));
      send(round, map_.members((node_ + distance) % map_.nodes())[index_], folded_[i]);
    }
  }

  void hand(Round& round, std::size_t i) const {
    const std::size_t members = neighbours().size();
    for (std::size_t distance = 1; distance < members; ++distance) {
      const std::size_t source = (index_ + members - distance) % members;
      const Part theirs = strips_.segment(source % strips_.owners(), i);
      const Part own = strips_.segment(index_ % strips_.owners(), i);
      if (source < strips_.owners()) receive(round, neighbours()[source], result(theirs.bytes, theirs.begin));
      if (is_owner()) send(round, neighbours()[(index_ + distance) % members], result(own.bytes, own.begin));
    }
  }

  const Shape& shape_;
  Kind kind_;
  NodeMap map_;
  std::size_t node_;
  std::size_t index_;  // in the node: the number of the strip
  Stages stages_;
  Strips strips_;
  Partials partials_;
  Slots near_;
  Slots far_;
  std::vector<Region> folded_;  // by segment: where this rank has the result of its part
  Schedule schedule_;
};

}  // namespace

Schedule reduce_by_strips(const Shape& shape) { return ReduceByStrips(shape, Kind::reduce).schedule(); }
Schedule allreduce_by_strips(const Shape& shape) { return ReduceByStrips(shape, Kind::allreduce).schedule(); }

}  // namespace sluice::plans
