// The ranks of a communicator by node.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/collective/shape.hpp"

namespace sluice::plans {

class NodeMap {
 public:
  explicit NodeMap(const Shape& shape);

  /// Nodes in the order of their first ranks.
  [[nodiscard]] std::size_t nodes() const { return members_.size(); }
  /// Ranks in ascending order.
  [[nodiscard]] const std::vector<std::size_t>& members(std::size_t node) const { return members_[node]; }
  [[nodiscard]] std::size_t node_of(std::size_t rank) const { return node_of_[rank]; }
  /// Among the members of its node.
  [[nodiscard]] std::size_t index_of(std::size_t rank) const { return index_of_[rank]; }
  [[nodiscard]] std::size_t least_members() const;
  [[nodiscard]] std::size_t most_members() const;

 private:
  std::vector<std::vector<std::size_t>> members_;
  std::vector<std::size_t> node_of_;
  std::vector<std::size_t> index_of_;
};

}  // namespace sluice::plans
