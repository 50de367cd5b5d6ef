// What the protocols cost on the model of an adapter, by its own clock: the same figures in each run, on any machine. They follow
// from the knobs, so they say how the protocols compare, not how long a message takes anywhere.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/unit/support/rdma_pair.hpp"
#include "tests/unit/support/rendezvous_times.hpp"

namespace sluice {
namespace {

/// From the two calls until both sides are done.
std::uint64_t time_of(Rendezvous protocol, std::size_t bytes, AdapterKnobs knobs = {}) {
  knobs.max_payload = 16384;
  RdmaPair pair(knobs, RdmaPair::forced(protocol));
  auto sent = pattern(bytes);
  std::vector<std::byte> got(bytes);
  const auto begin = pair.network.now();
  pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
  EXPECT_EQ(got, sent);
  return pair.network.now() - begin;
}

class Cost : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, Cost, testing::Values(1024, 4096, 16384, 32768, 1 << 20));

TEST_P(Cost, of_a_look_at_the_last_byte_is_that_of_a_completion_without_its_notification) {
  const AdapterKnobs knobs{.notification = 700};
  EXPECT_EQ(time_of(Rendezvous::get, GetParam(), knobs) + 700, time_of(Rendezvous::getcqe, GetParam(), knobs));
}

TEST(CostOfChunks, is_at_most_a_twentieth_more_than_that_of_one_read) {
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{4} << 20, std::size_t{16} << 20}) {
    const auto whole = static_cast<double>(time_of(Rendezvous::getcqe, bytes));
    EXPECT_LE(static_cast<double>(time_of(Rendezvous::rdrp, bytes)), 1.05 * whole) << bytes;
  }
}

TEST(CostOfChunks, is_high_where_only_one_may_be_under_way) {
  constexpr std::size_t bytes = std::size_t{4} << 20;
  const AdapterKnobs far{.latency = 50'000};
  Config config = RdmaPair::forced(Rendezvous::rdrp);
  config.rdrp_outstanding = 1;
  RdmaPair pair(far, config);
  auto sent = pattern(bytes);
  std::vector<std::byte> got(bytes);
  pair.exchange(RdmaPair::contiguous(sent), RdmaPair::contiguous(got));
  EXPECT_GT(pair.network.now(), 2 * time_of(Rendezvous::rdrp, bytes, far));
}

// --- the paper's comparisons (RV section 4), with its constants ---------------------------------------------------------

RendezvousTimes& bowtie() {
  static RendezvousTimes times = bowtie_times();
  return times;
}

void expect_slower(RendezvousTimes::Column slow, RendezvousTimes::Column fast) {
  for (std::size_t size = 0; size < RendezvousTimes::sizes.size(); ++size) {
    EXPECT_GT(bowtie().at(slow, size), bowtie().at(fast, size)) << RendezvousTimes::sizes[size];
  }
}

TEST(CostOnTheWire, put_is_faster_than_putnr_where_all_messages_end_with_its_constant) {
  expect_slower(RendezvousTimes::putnr_worst, RendezvousTimes::put_worst);
}

TEST(CostOnTheWire, put_is_faster_than_get) { expect_slower(RendezvousTimes::get, RendezvousTimes::put); }

/// Without others on the wire by its whole notification, see above. With them, from 8 KB on, by less than other random times
/// would change: there the figures are no more than those that the documentation shows.
TEST(CostOnTheWire, get_is_faster_than_getcqe) { expect_slower(RendezvousTimes::getcqe, RendezvousTimes::get); }

TEST(CostOnTheWire, all_are_faster_than_rput) {
  for (const auto column : {RendezvousTimes::getcqe, RendezvousTimes::get, RendezvousTimes::putnr_worst, RendezvousTimes::put}) {
    expect_slower(RendezvousTimes::rput, column);
  }
}

TEST(CostOnTheWire, is_what_the_documentation_says) {
  std::ostringstream page;
  page << std::ifstream(SLUICE_RENDEZVOUS_PAGE).rdbuf();
  EXPECT_NE(page.str().find(bowtie_tables(bowtie())), std::string::npos)
      << "docs/results/rendezvous-model.md should have what apps/bench/micro/rendezvous_model prints:\n"
      << bowtie_tables(bowtie());
}

}  // namespace
}  // namespace sluice
