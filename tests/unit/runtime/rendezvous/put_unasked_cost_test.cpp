// What put and get cost that nobody has asked for, on the model of an adapter, as rdma_cost_test.cpp has it of those that are
// forced.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/unit/support/model_exchange.hpp"
#include "tests/unit/support/rendezvous_times.hpp"

namespace sluice {
namespace {

constexpr std::size_t bytes = 4096;

TEST(UnaskedCost, is_that_of_put_where_receives_are_posted_ahead) {
  EXPECT_EQ(ahead_time(Rendezvous::automatic, bytes), ahead_time(Rendezvous::put, bytes));
  EXPECT_LT(ahead_time(Rendezvous::automatic, bytes), ahead_time(Rendezvous::getcqe, bytes));
}

TEST(UnaskedCost, is_at_most_a_hundredth_above_that_of_getcqe_where_they_are_not) {
  const auto time_of = [](Rendezvous protocol) { return nanoseconds_of({.protocol = protocol, .bytes = bytes}); };
  EXPECT_LE(time_of(Rendezvous::automatic), 1.01 * time_of(Rendezvous::getcqe));
}

TEST(UnaskedCost, is_what_the_documentation_says) {
  std::ostringstream page;
  page << std::ifstream(SLUICE_RENDEZVOUS_PAGE).rdbuf();
  EXPECT_NE(page.str().find(ahead_table()), std::string::npos)
      << "docs/results/rendezvous-model.md should have what apps/bench/micro/rendezvous_model prints:\n"
      << ahead_table();
}

}  // namespace
}  // namespace sluice
