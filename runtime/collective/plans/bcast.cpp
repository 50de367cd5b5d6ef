// Between nodes from leader to leader, in a node from its leader to all others: each reader copies with its own processor. The
// root leads its node.
//
// Leaders form a binomial tree. A long message goes along a chain instead, in segments: then no link carries it twice. Whoever
// forwards does so a segment at a time. All others start all their receives at once, in one round, and so may leave early.

#include <bit>

#include "runtime/collective/plans/node_map.hpp"
#include "runtime/collective/plans/parts.hpp"
#include "runtime/collective/plans/plans.hpp"

namespace sluice::plans {
namespace {

class Bcast {
 public:
  explicit Bcast(const Shape& shape)
      : shape_(shape), map_(shape), root_(static_cast<std::size_t>(shape.root)), is_chain_(prefers_chain()) {
    segments_ = segments(stages());
  }

  Schedule schedule() {
    if (shape_.bytes == 0) return {};
    if (shape_.is_root()) {
      send_all();
    } else if (receivers().empty()) {
      Round& round = schedule_.rounds.emplace_back();
      const std::size_t pieces = pieces_for(shape_.own());
      for (std::size_t piece = 0; piece < pieces; ++piece) receive(round, source(), region(pieces, piece));
    } else {
      forward();
    }
    return finished(std::move(schedule_));
  }

 private:
  [[nodiscard]] std::size_t own_node() const { return map_.node_of(shape_.own()); }
  /// Of a node: the root's is 0.
  [[nodiscard]] std::size_t place(std::size_t node) const { return (node + map_.nodes() - map_.node_of(root_)) % map_.nodes(); }
  [[nodiscard]] std::size_t leader_at(std::size_t place) const {
    return place == 0 ? root_ : map_.members((place + map_.node_of(root_)) % map_.nodes())[0];
  }
  [[nodiscard]] std::size_t own_leader() const { return leader_at(place(own_node())); }

  [[nodiscard]] std::size_t segments(std::size_t stages) const {
    return stages == 0 ? 1 : segments_of(shape_.bytes, shape_.segment_bytes, stages);
  }
  [[nodiscard]] std::size_t levels() const { return static_cast<std::size_t>(std::bit_width(map_.nodes() - 1)); }

  /// The root of a binomial tree sends the message once for each level. A chain of n nodes takes n - 2 segments more than one.
  [[nodiscard]] bool prefers_chain() const {
    if (map_.nodes() <= 2) return false;
    const std::size_t n = map_.nodes() - 2;
    return n < (levels() - 1) * segments(n);
  }

  /// How often the last rank's part of the message is forwarded.
  [[nodiscard]] std::size_t stages() const {
    const std::size_t hops = (is_chain_ ? map_.nodes() - 1 : levels()) + (map_.most_members() > 1 ? 1 : 0);
    return map_.nodes() == 1 ? 0 : hops - 1;
  }

  [[nodiscard]] std::size_t source() const {
    if (own_leader() != shape_.own()) return own_leader();
    const std::size_t at = place(own_node());
    return leader_at(is_chain_ ? at - 1 : at & (at - 1));
  }

  /// Far ones first: they forward.
  [[nodiscard]] std::vector<std::size_t> receivers() const {
    std::vector<std::size_t> all;
    if (own_leader() != shape_.own()) return all;
    const std::size_t at = place(own_node());
    if (is_chain_) {
      if (at + 1 < map_.nodes()) all.push_back(leader_at(at + 1));
    } else {
      for (std::size_t distance = std::bit_floor(map_.nodes()); distance != 0; distance /= 2) {
        if ((at & (2 * distance - 1)) == 0 && at + distance < map_.nodes()) all.push_back(leader_at(at + distance));
      }
    }
    for (const std::size_t member : map_.members(own_node())) {
      if (member != shape_.own()) all.push_back(member);
    }
    return all;
  }

  /// The root's neighbours get it in one piece: nobody waits for a part of theirs.
  [[nodiscard]] std::size_t pieces_for(std::size_t receiver) const {
    return map_.node_of(receiver) == map_.node_of(root_) ? 1 : segments_;
  }

  [[nodiscard]] Region region(std::size_t pieces, std::size_t piece) const {
    const Part part = Part{0, shape_.bytes}.cut(pieces, piece);
    return shape_.is_root() ? operand(part.bytes, part.begin) : result(part.bytes, part.begin);
  }

  void send_all() {
    Round& round = schedule_.rounds.emplace_back();
    for (std::size_t piece = 0; piece < segments_; ++piece) {
      for (const std::size_t receiver : receivers()) {
        const std::size_t pieces = pieces_for(receiver);
        if (piece < pieces) send(round, receiver, region(pieces, piece));
      }
    }
  }

  void forward() {
    for (std::size_t piece = 0; piece <= segments_; ++piece) {
      Round& round = schedule_.rounds.emplace_back();
      if (piece < segments_) receive(round, source(), region(segments_, piece));
      if (piece == 0) continue;
      for (const std::size_t receiver : receivers()) send(round, receiver, region(segments_, piece - 1));
    }
  }

  const Shape& shape_;
  NodeMap map_;
  std::size_t root_;
  bool is_chain_;
  std::size_t segments_ = 1;
  Schedule schedule_;
};

}  // namespace

Schedule bcast(const Shape& shape) { return Bcast(shape).schedule(); }

}  // namespace sluice::plans
