#include "tools/report/path_tree.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace sluice {

namespace {

using Path = std::pair<const PlacePath, Waiting>;

bool waited_longer(const Waiting& a, const Waiting& b) {
  const auto key = [](const Waiting& waiting) { return std::pair(waiting.still_waited(), waiting.hidden()); };
  return key(a) > key(b);
}

void add(PathNode& root, const Path& path) {
  PathNode* node = &root;
  node->waiting += path.second;
  for (const std::string& place : path.first) {
    const auto known =
        std::find_if(node->callees.begin(), node->callees.end(), [&](const PathNode& next) { return next.place == place; });
    node = known != node->callees.end() ? &*known : &node->callees.emplace_back(PathNode{place, {}, {}});
    node->waiting += path.second;
  }
}

void sort(PathNode& node) {
  std::stable_sort(node.callees.begin(), node.callees.end(),
                   [](const PathNode& a, const PathNode& b) { return waited_longer(a.waiting, b.waiting); });
  for (PathNode& next : node.callees) sort(next);
}

}  // namespace

PathNode path_tree(const std::map<PlacePath, Waiting>& paths, std::size_t most) {
  std::vector<const Path*> order;
  for (const Path& path : paths) order.push_back(&path);
  std::stable_sort(order.begin(), order.end(), [](const Path* a, const Path* b) { return waited_longer(a->second, b->second); });
  PathNode root;
  for (const Path* const path : std::span(order).first(std::min(most, order.size()))) add(root, *path);
  sort(root);
  return root;
}

}  // namespace sluice
