// On which NUMA node the pages of an alias block are made.
//
// A block takes the place of memory that the application has placed already, by touching it first or by a policy of its own. Its
// pages are made by whichever thread migrates it, perhaps the helper thread on another node. So the file's pages are made where
// the old ones lie. Later ones, of parts that were dropped, are made by the application's own touch as before.
//
// The nodes are read from /sys once: hwloc would tell the same, and would be a library more in every process that Sluice is
// preloaded into. On a machine of one node nothing is asked or set.
#pragma once

#include <cstddef>

namespace sluice {

/// NUMA nodes that are online; 1 where the kernel knows of none.
[[nodiscard]] std::size_t count_numa_nodes();

/// While it lives, pages that the calling thread makes lie on the node of the page at `like`, if there is room. Does nothing
/// where there is one node, the page does not exist, or the kernel refuses; the thread's policy is as before afterwards.
class PlaceLike {
 public:
  explicit PlaceLike(const void* like, std::size_t nodes = count_numa_nodes());
  ~PlaceLike();
  PlaceLike(const PlaceLike&) = delete;
  PlaceLike& operator=(const PlaceLike&) = delete;

  /// The node; -1 when it does nothing.
  [[nodiscard]] int node() const { return node_; }

 private:
  static constexpr std::size_t max_nodes = 1024;  // what the kernel can be built for
  struct Mask {
    unsigned long bits[max_nodes / (8 * sizeof(unsigned long))];
  };

  int node_ = -1;
  int policy_before_ = 0;
  Mask mask_before_{};
};

}  // namespace sluice
