// Each rank folds one strip of the vector, so each byte is moved and folded once. Between nodes only what their ranks have in
// common goes, once for each subtree of the canonical order that lies on one node.
//
// There are as many strips as the largest node has ranks. On a node its ranks own them in turn, and of each the part that has the
// number of the node. A strip goes in segments. Each stage of a segment is one round, and the segment behind it is one stage
// behind:
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

/// How the vector is cut, and what is whose.
class Strips {
 public:
  Strips(const Shape& shape, const NodeMap& map) : whole_{0, shape.bytes}, element_bytes_(shape.element_bytes), map_(map) {}

  void cut_in(std::size_t segments) { segments_ = segments; }
  [[nodiscard]] std::size_t segments() const { return segments_; }
  [[nodiscard]] std::size_t count() const { return map_.most_members(); }
  [[nodiscard]] std::size_t owner(std::size_t node, std::size_t strip) const {
    return map_.members(node)[strip % map_.members(node).size()];
  }

  [[nodiscard]] Part segment(std::size_t strip, std::size_t i) const {
    return whole_.cut(count(), strip, element_bytes_).cut(segments_, i, element_bytes_);
  }
  [[nodiscard]] Part part(std::size_t strip, std::size_t i, std::size_t node) const {
    return segment(strip, i).cut(map_.nodes(), node, element_bytes_);
  }

 private:
  Part whole_;
  std::size_t element_bytes_;
  const NodeMap& map_;
  std::size_t segments_ = 1;
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
        strips_(shape, map_),
        partials_(shape.ranks, map_) {
    strips_.cut_in(segments());
    lay_out_scratch();
    folded_.resize(strips_.segments() * strips_.count());
  }

  Schedule schedule() {
    std::vector<Round>& rounds = schedule_.rounds;
    rounds.resize(strips_.segments() + stages_.count - 1);
    for (std::size_t i = 0; i < strips_.segments(); ++i) {
      if (stages_.are_near) collect(rounds[i + stages_.collect], i);
      for (std::size_t strip = index_; strip < strips_.count(); strip += neighbours().size()) {
        if (stages_.are_near) join(rounds[i + stages_.join], i, strip);
        if (stages_.are_far) exchange(rounds[i + stages_.exchange], i, strip);
        if (stages_.are_far) fold(rounds[i + stages_.fold], i, strip);
        if (stages_.are_far && kind_ == Kind::allreduce) spread(rounds[i + stages_.spread], i, strip);
      }
      if (kind_ == Kind::reduce) give_to_root(rounds[i + stages_.spread], i);
      if (stages_.are_near && kind_ == Kind::allreduce) hand(rounds[i + stages_.hand], i);
    }
    return finished(std::move(schedule_));
  }

 private:
  [[nodiscard]] bool has_result() const { return kind_ == Kind::allreduce || shape_.is_root(); }
  [[nodiscard]] const std::vector<std::size_t>& neighbours() const { return map_.members(node_); }
  /// Among the strips of this rank.
  [[nodiscard]] std::size_t number(std::size_t strip) const { return strip / neighbours().size(); }
  [[nodiscard]] std::size_t most_strips() const { return (strips_.count() - 1) / map_.least_members() + 1; }
  [[nodiscard]] Region& folded(std::size_t i, std::size_t strip) { return folded_[i * strips_.count() + strip]; }
  [[nodiscard]] Part own_part(std::size_t i, std::size_t strip) const { return strips_.part(strip, i, node_); }

  /// In how many rounds what a stage receives is in use.
  [[nodiscard]] std::size_t lifetime(std::size_t stage) const { return stages_.last_read - stage + 1; }

  /// The same on all ranks. Where nodes differ, or few operands can be joined, scratch memory asks for more of them.
  [[nodiscard]] std::size_t segments() const {
    const std::size_t owners = strips_.count() * map_.nodes();
    const std::size_t pieces = shape_.bytes / owners / std::max<std::size_t>(1, shape_.segment_bytes);
    const std::size_t operands = most_strips() * partials_.all().size() / owners;
    const std::size_t least = operands > 1 ? operands * lifetime(stages_.exchange) : 1;
    return std::max(least, std::min(pieces, most_segments(stages_.count)));
  }

  void lay_out_scratch() {
    const auto live = [&](std::size_t stage) { return std::min(lifetime(stage), strips_.segments()); };
    const std::size_t own_strips = number(strips_.count() - 1 - index_) + 1;
    near_ = {0, padded(strips_.segment(0, 0).bytes), own_strips * (neighbours().size() - 1), live(stages_.collect)};
    far_ = {near_.end(), padded(strips_.part(0, 0, 0).bytes), own_strips * partials_.all().size(), live(stages_.exchange)};
    schedule_.scratch_bytes = stages_.are_far ? far_.end() : near_.end();
  }

  [[nodiscard]] Region near_slot(std::size_t rank, std::size_t i, std::size_t strip) const {
    const std::size_t index = map_.index_of(rank);
    const std::size_t slot = number(strip) * (neighbours().size() - 1) + (index < index_ ? index : index - 1);
    return near_.at(i, slot, strips_.segment(strip, i).bytes);
  }
  [[nodiscard]] Region far_slot(std::size_t partial, std::size_t i, std::size_t strip) const {
    return far_.at(i, number(strip) * partials_.all().size() + partial, own_part(i, strip).bytes);
  }
  [[nodiscard]] static Region operand_at(const Part& part) { return operand(part.bytes, part.begin); }
  [[nodiscard]] static Region result_at(const Part& part) { return result(part.bytes, part.begin); }

  /// What this node has of a segment.
  [[nodiscard]] Region own_partial(const Partial& partial, std::size_t i, std::size_t strip) const {
    if (partial.first != shape_.own()) return near_slot(partial.first, i, strip);
    if (partial.count > 1) return near_slot(partial.first + 1, i, strip);
    return operand_at(strips_.segment(strip, i));
  }
  /// ... of the part that has the number of a node.
  [[nodiscard]] Region own_partial(const Partial& partial, std::size_t i, std::size_t strip, std::size_t node) const {
    const Part part = strips_.part(strip, i, node);
    Region region = own_partial(partial, i, strip);
    region.begin += part.begin - strips_.segment(strip, i).begin;
    region.bytes = part.bytes;
    return region;
  }

  void collect(Round& round, std::size_t i) const {
    const std::size_t members = neighbours().size();
    for (std::size_t distance = 1; distance < members; ++distance) {
      const std::size_t source = neighbours()[(index_ + members - distance) % members];
      const std::size_t target = (index_ + distance) % members;
      for (std::size_t strip = index_; strip < strips_.count(); strip += members) {
        receive(round, source, near_slot(source, i, strip));
      }
      for (std::size_t strip = target; strip < strips_.count(); strip += members) {
        send(round, neighbours()[target], operand_at(strips_.segment(strip, i)));
      }
    }
  }

  void join(Round& round, std::size_t i, std::size_t strip) {
    const Part segment = strips_.segment(strip, i);
    if (segment.bytes == 0) return;
    for (const Partial& partial : partials_.all()) {
      if (partial.node != node_ || partial.count == 1) continue;
      Round::Local& all = round.local.emplace_back();
      for (std::size_t rank = partial.first; rank < partial.first + partial.count; ++rank) {
        all.sources.push_back(rank == shape_.own() ? operand_at(segment) : near_slot(rank, i, strip));
      }
      const bool is_fold = !stages_.are_far;
      all.target = is_fold && has_result() ? result_at(segment) : own_partial(partial, i, strip);
      if (is_fold) folded(i, strip) = all.target;
    }
  }

  void exchange(Round& round, std::size_t i, std::size_t strip) const {
    for (std::size_t distance = 1; distance < map_.nodes(); ++distance) {
      const std::size_t source = (node_ + map_.nodes() - distance) % map_.nodes();
      const std::size_t target = (node_ + distance) % map_.nodes();
      for (std::size_t number = 0; number < partials_.all().size(); ++number) {
        const Partial& partial = partials_.all()[number];
        if (partial.node == source) receive(round, strips_.owner(source, strip), far_slot(number, i, strip));
        if (partial.node == node_) send(round, strips_.owner(target, strip), own_partial(partial, i, strip, target));
      }
    }
  }

  void fold(Round& round, std::size_t i, std::size_t strip) {
    const Part part = own_part(i, strip);
    if (part.bytes == 0) return;
    std::size_t number = 0;
    const auto value = [&](const Partial& partial) {
      const Region far = far_slot(number++, i, strip);
      return partial.node == node_ ? own_partial(partial, i, strip, node_) : far;
    };
    const auto target = [&](const Region& lower, const Region& upper, bool is_last) {
      if (is_last && has_result()) return result_at(part);
      return lower.area == Region::Area::scratch ? lower : upper;
    };
    if (partials_.are_canonical()) {
      std::vector<Region> sources;
      for (const Partial& partial : partials_.all()) sources.push_back(value(partial));
      folded(i, strip) = target(sources[0], sources[1], true);
      round.local.push_back({std::move(sources), folded(i, strip)});
      return;
    }
    folded(i, strip) = partials_.fold(value, [&](const Region& lower, const Region& upper, bool is_last) {
      const Region joined = target(lower, upper, is_last);
      combine(round, lower, upper, joined);
      return joined;
    });
  }

  void give_to_root(Round& round, std::size_t i) {
    for (std::size_t distance = 0; distance < map_.nodes(); ++distance) {
      const std::size_t node = (node_ + distance) % map_.nodes();
      for (std::size_t strip = 0; strip < strips_.count(); ++strip) {
        const std::size_t source = strips_.owner(node, strip);
        if (shape_.is_root() && source != shape_.own()) receive(round, source, result_at(strips_.part(strip, i, node)));
        if (!shape_.is_root() && source == shape_.own()) send(round, static_cast<std::size_t>(shape_.root), folded(i, strip));
      }
    }
  }

  void spread(Round& round, std::size_t i, std::size_t strip) {
    for (std::size_t distance = 1; distance < map_.nodes(); ++distance) {
      const std::size_t source = (node_ + map_.nodes() - distance) % map_.nodes();
      receive(round, strips_.owner(source, strip), result_at(strips_.part(strip, i, source)));
      send(round, strips_.owner((node_ + distance) % map_.nodes(), strip), folded(i, strip));
    }
  }

  void hand(Round& round, std::size_t i) const {
    const std::size_t members = neighbours().size();
    for (std::size_t distance = 1; distance < members; ++distance) {
      const std::size_t source = (index_ + members - distance) % members;
      const std::size_t target = (index_ + distance) % members;
      for (std::size_t strip = source; strip < strips_.count(); strip += members) {
        receive(round, neighbours()[source], result_at(strips_.segment(strip, i)));
      }
      for (std::size_t strip = index_; strip < strips_.count(); strip += members) {
        send(round, neighbours()[target], result_at(strips_.segment(strip, i)));
      }
    }
  }

  const Shape& shape_;
  Kind kind_;
  NodeMap map_;
  std::size_t node_;
  std::size_t index_;  // in the node
  Stages stages_;
  Strips strips_;
  Partials partials_;
  Slots near_;
  Slots far_;
  std::vector<Region> folded_;  // by segment and strip: where this rank has the result of its part
  Schedule schedule_;
};

}  // namespace

Schedule reduce_by_strips(const Shape& shape) { return ReduceByStrips(shape, Kind::reduce).schedule(); }
Schedule allreduce_by_strips(const Shape& shape) { return ReduceByStrips(shape, Kind::allreduce).schedule(); }

}  // namespace sluice::plans
