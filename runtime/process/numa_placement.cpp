#include "runtime/process/numa_placement.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "runtime/process/processors.hpp"

namespace sluice {

std::size_t count_numa_nodes() {
  static const std::size_t nodes = [] {
    std::ifstream file("/sys/devices/system/node/online");
    std::string line;
    std::getline(file, line);
    return std::max<std::size_t>(1, parse_processors(line).size());
  }();
  return nodes;
}

PlaceLike::PlaceLike(const void* like, std::size_t nodes) {
  if (nodes < 2) return;
  constexpr unsigned long bits_of_node = 8 * sizeof(unsigned long);
  int node = -1;
  // The bare calls, as libnuma would be a library more. The kernel takes one bit less than it is told.
  if (syscall(SYS_get_mempolicy, &node, nullptr, 0, like, MPOL_F_NODE | MPOL_F_ADDR) != 0) return;
  if (node < 0 || static_cast<std::size_t>(node) >= max_nodes) return;
  if (syscall(SYS_get_mempolicy, &policy_before_, mask_before_.bits, max_nodes, nullptr, 0) != 0) return;
  Mask wanted{};
  wanted.bits[static_cast<unsigned long>(node) / bits_of_node] |= 1UL << (static_cast<unsigned long>(node) % bits_of_node);
  if (syscall(SYS_set_mempolicy, MPOL_PREFERRED, wanted.bits, max_nodes + 1) == 0) node_ = node;
}

PlaceLike::~PlaceLike() {
  if (node_ < 0) return;
  const bool by_default = policy_before_ == MPOL_DEFAULT;
  syscall(SYS_set_mempolicy, policy_before_, by_default ? nullptr : mask_before_.bits, by_default ? 0 : max_nodes + 1);
}

}  // namespace sluice
