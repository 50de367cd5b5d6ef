#include "runtime/process/numa_placement.hpp"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>

namespace sluice {
namespace {

constexpr std::size_t two_nodes = 2;  // whatever this machine has

int policy_of_thread() {
  int policy = -1;
  return syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) == 0 ? policy : -1;
}

TEST(numa_placement, does_nothing_where_there_is_one_node) {
  const int before = policy_of_thread();
  const auto page = std::make_unique<char[]>(1);
  const PlaceLike place(page.get(), 1);
  EXPECT_EQ(place.node(), -1);
  EXPECT_EQ(policy_of_thread(), before);
}

TEST(numa_placement, prefers_the_node_of_a_page_while_it_lives) {
  if (policy_of_thread() < 0) GTEST_SKIP() << "this kernel has no memory policies";
  const int before = policy_of_thread();
  const auto page = std::make_unique<char[]>(1);
  {
    const PlaceLike place(page.get(), two_nodes);
    ASSERT_GE(place.node(), 0);
    EXPECT_EQ(policy_of_thread(), MPOL_PREFERRED);
  }
  EXPECT_EQ(policy_of_thread(), before);
}

TEST(numa_placement, leaves_a_policy_of_the_program_as_it_was) {
  const unsigned long first_node = 1;
  if (syscall(SYS_set_mempolicy, MPOL_BIND, &first_node, 8 * sizeof first_node) != 0) GTEST_SKIP() << "no memory policies here";
  const auto page = std::make_unique<char[]>(1);
  { const PlaceLike place(page.get(), two_nodes); }
  int policy = -1;
  unsigned long nodes[16] = {};
  ASSERT_EQ(syscall(SYS_get_mempolicy, &policy, nodes, 8 * sizeof nodes, nullptr, 0), 0);
  EXPECT_EQ(policy, MPOL_BIND);
  EXPECT_EQ(nodes[0], first_node);
  syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0);
}

TEST(numa_placement, does_nothing_for_an_address_that_is_none) {
  const int before = policy_of_thread();
  const PlaceLike place(reinterpret_cast<const void*>(4096), two_nodes);
  EXPECT_EQ(place.node(), -1);
  EXPECT_EQ(policy_of_thread(), before);
}

TEST(numa_placement, counts_at_least_one_node) { EXPECT_GE(count_numa_nodes(), 1U); }

}  // namespace
}  // namespace sluice
