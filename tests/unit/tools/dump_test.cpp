// `sluice dump` prints what was written, and what was asked for.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/unit/tools/shell.hpp"
#include "tests/unit/tools/trace_maker.hpp"

namespace sluice {
namespace {

using nlohmann::json;
using trace::Kind;

/// Two ranks, a send and its receive.
class Dump : public testing::Test {
 protected:
  Dump() {
    TraceMaker sender(0, 2);
    sender.site(1, "MPI_Send", 0x1001);
    sender.add(Kind::post_send, 100,
               {.detail = trace::post_blocking, .bytes = 64, .value = 0xbeef, .operation = 1, .site = 1, .peer = 1, .tag = 7});
    sender.add(Kind::complete, 300, {.bytes = 64, .operation = 1, .peer = 1, .tag = 7});
    TraceMaker receiver(1, 2);
    receiver.add(Kind::match, 200,
                 {.detail = trace::match_rendezvous | trace::match_unexpected,
                  .bytes = 64,
                  .value = 1,
                  .operation = 4,
                  .peer = 0,
                  .tag = 7});
    receiver.add(static_cast<Kind>(999), 250, {.value = 5});
    sender.write(directory_.file(0));
    receiver.write(directory_.file(1));
  }

  std::vector<json> lines(const std::string& options) {
    const Result result = shell("$sluice dump --json " + options + " " + directory_.path().string());
    EXPECT_EQ(result.status, 0) << result.output;
    std::istringstream stream(result.output);
    std::vector<json> objects;
    for (std::string line; std::getline(stream, line);) objects.push_back(json::parse(line));
    return objects;
  }

  TraceDirectory directory_;
};

TEST_F(Dump, every_record_of_every_rank_comes_in_order_of_time) {
  const auto records = lines("");

  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[0], (json{{"time_ns", 100'000},
                              {"rank", 0},
                              {"thread", 0},
                              {"event", "post_send"},
                              {"operation", 1},
                              {"site", 1},
                              {"at", "MPI_Send at 0x1000"},
                              {"peer", 1},
                              {"tag", 7},
                              {"context", 0},
                              {"how", "blocking"},
                              {"bytes", 64},
                              {"address", "0xbeef"},
                              {"message", 0}}));
  EXPECT_EQ(records[1]["how"], "rendezvous+unexpected");
  EXPECT_EQ(records[2]["event"], "kind 999");
  EXPECT_EQ(records[2]["value"], 5);
  EXPECT_EQ(records[3]["event"], "complete");
}

TEST_F(Dump, filters_are_combined) {
  EXPECT_EQ(lines("--rank 1").size(), 2U);
  EXPECT_EQ(lines("--kind match,complete").size(), 2U);
  EXPECT_EQ(lines("--kind match,complete --rank 0").size(), 1U);
  EXPECT_EQ(lines("--peer 1").size(), 2U);
  EXPECT_EQ(lines("--tag 7 --operation 4").size(), 1U);
  EXPECT_EQ(lines("--from 0.0001 --to 0.00025").size(), 2U);
}

TEST_F(Dump, text_has_a_line_for_each) {
  const Result result = shell("$sluice dump --kind post_send " + directory_.path().string());

  EXPECT_EQ(result.output,
            "   0.000100000  rank 0 thread 0  post_send      operation 1  MPI_Send at 0x1000  peer 1  tag 7  context 0  how "
            "blocking  bytes 64  address 0xbeef  "
            "message 0\n");
}

TEST_F(Dump, unknown_kind_is_refused) {
  const Result result = shell("$sluice dump --kind wiat " + directory_.path().string());

  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.output, "wiat")) << result.output;
}

TEST_F(Dump, end_of_a_pipe_that_nobody_reads_is_no_error) {
  EXPECT_EQ(shell("($sluice dump --json " + directory_.path().string() + "; echo status $?) | head -1 | cut -c1-10").output,
            "{\"time_ns\"\n");
}

TEST_F(Dump, place_in_the_program_is_found_by_its_debugging_information) {
  TraceMaker maker(0, 1);
  trace::ModulePayload module;
  maker.entry(trace::EntryType::module, 2, std::string(reinterpret_cast<const char*>(&module), sizeof module) + SLUICE_COMMAND);
  const Result symbol = shell("nm $sluice | awk '$3 == \"main\" {print $1}'");
  trace::SitePayload site{.frames = 1};
  site.function = {"MPI_Recv"};
  site.frame[0] = trace::make_frame(2, std::stoull(symbol.output, nullptr, 16) + 5);
  maker.entry_of(trace::EntryType::site, 1, site);
  maker.add(Kind::call, 1, {.site = 1});
  maker.write(directory_.file(0));

  const auto records = lines("--rank 0");

  ASSERT_EQ(records.size(), 1U);
  EXPECT_TRUE(contains(records[0]["at"], "MPI_Recv at main.cpp:")) << records[0];
  EXPECT_TRUE(contains(records[0]["at"], " (main)")) << records[0];
}

TEST(sluice_dump, missing_trace_is_named) {
  const Result result = shell("$sluice dump /nowhere/trace");

  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.output, "sluice: /nowhere/trace: there is no such file or directory\n");
}

}  // namespace
}  // namespace sluice
