#include "runtime/collective/plans/node_map.hpp"

#include <algorithm>
#include <map>

namespace sluice::plans {

NodeMap::NodeMap(const Shape& shape) {
  std::map<std::uint32_t, std::size_t> known;
  for (std::size_t rank = 0; rank < shape.ranks; ++rank) {
    const std::uint32_t name = shape.nodes.empty() ? 0 : shape.nodes[rank];
    const std::size_t node = known.try_emplace(name, members_.size()).first->second;
    if (node == members_.size()) members_.emplace_back();
    node_of_.push_back(node);
    index_of_.push_back(members_[node].size());
    members_[node].push_back(rank);
  }
}

std::size_t NodeMap::least_members() const {
  return std::min_element(members_.begin(), members_.end(), [](auto& a, auto& b) { return a.size() < b.size(); })->size();
}

std::size_t NodeMap::most_members() const {
  return std::max_element(members_.begin(), members_.end(), [](auto& a, auto& b) { return a.size() < b.size(); })->size();
}

}  // namespace sluice::plans
