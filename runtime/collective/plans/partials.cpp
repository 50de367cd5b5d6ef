#include "runtime/collective/plans/partials.hpp"

#include <algorithm>

namespace sluice::plans {

Partials::Partials(std::size_t ranks, const NodeMap& map) : map_(map), order_(ranks) {
  collect(0, order_.leaves());
  // Subtrees of as many ranks each: a tree of trees.
  are_canonical_ = std::all_of(all_.begin(), all_.end(), [&](const Partial& partial) { return partial.count == all_[0].count; });
}

void Partials::collect(std::size_t leaf, std::size_t leaves) {
  const std::size_t first = order_.first_rank(leaf);
  const std::size_t last = order_.first_rank(leaf + leaves);
  const std::size_t node = map_.node_of(first);
  bool is_on_one_node = true;
  for (std::size_t rank = first; rank < last; ++rank) is_on_one_node &= map_.node_of(rank) == node;
  if (is_on_one_node) {
    all_.push_back({node, first, last - first});
  } else if (leaves > 1) {
    collect(leaf, leaves / 2);
    collect(leaf + leaves / 2, leaves / 2);
  } else {
    all_.push_back({node, first, 1});
    all_.push_back({map_.node_of(first + 1), first + 1, 1});
  }
}

}  // namespace sluice::plans
