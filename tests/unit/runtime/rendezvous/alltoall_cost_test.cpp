// What RV's all-to-all costs on the model of an adapter (section 4.2.2), as rdma_cost_test.cpp has it of its other figures.

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <sstream>

#include "tests/unit/support/model_exchange.hpp"
#include "tests/unit/support/rendezvous_times.hpp"

namespace sluice {
namespace {

/// The other sizes take longer than a unit test may.
TEST(AllToAllCost, is_what_the_documentation_says_of_the_smallest_size) {
  RendezvousTimes times = alltoall_times();
  std::ostringstream page;
  page << std::ifstream(SLUICE_RENDEZVOUS_PAGE).rdbuf();
  EXPECT_NE(page.str().find(times.row(0)), std::string::npos)
      << "docs/results/rendezvous-model.md should have what apps/bench/micro/rendezvous_model prints:\n"
      << times.row(0);
}

TEST(AllToAllCost, is_less_by_put_than_by_get_with_messages_inside_a_node_beside_the_wire) {
  RendezvousTimes times = alltoall_times(InsideANode::beside_it);
  EXPECT_LT(times.at(RendezvousTimes::put, 0), times.at(RendezvousTimes::get, 0));
}

TEST(AllToAllCost, every_two_processes_exchange_once) {
  constexpr std::size_t processes = 8;
  std::array<std::array<int, processes>, processes> messages{};
  for (std::size_t self = 0; self < processes; ++self) {
    for (const ExchangeStep& step : alltoall_pattern(self, processes)) {
      for (const ExchangeOperation& operation : step) {
        const auto peer = static_cast<std::size_t>(operation.peer);
        operation.is_send ? ++messages[self][peer] : --messages[peer][self];
      }
      EXPECT_EQ(step.size(), 8) << "four at a time";
    }
  }
  EXPECT_EQ(messages, decltype(messages){}) << "a message without its receive";
}

}  // namespace
}  // namespace sluice
