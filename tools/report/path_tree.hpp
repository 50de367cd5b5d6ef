// Call paths of a report as a tree: what was waited in all that a place has called.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tools/report/totals.hpp"

namespace sluice {

struct PathNode {
  std::string place;
  Waiting waiting;                // at all ends beyond
  std::vector<PathNode> callees;  // who waited longest first
};

/// The root has no place. Of the paths, only the `most` that waited longest.
[[nodiscard]] PathNode path_tree(const std::map<PlacePath, Waiting>& paths, std::size_t most);

}  // namespace sluice
