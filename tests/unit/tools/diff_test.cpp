// `sluice diff` on pairs of traces whose waits are known.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/tools/shell.hpp"
#include "tests/unit/tools/trace_maker.hpp"
#include "tools/diff/difference.hpp"

namespace sluice {
namespace {

using nlohmann::json;
using trace::Kind;

constexpr std::uint64_t us = 1000;

/// A rank that receives at some sites, and waits for each receive for so long.
class Receiver {
 public:
  explicit Receiver(std::int32_t rank = 0, std::int32_t size = 1) : maker_(rank, size), rank_(rank) {}

  Receiver& receive(std::uint64_t site, std::uint64_t waited_us, std::uint64_t hidden_us = 0) {
    const auto operation = static_cast<std::uint32_t>(++operations_);
    const double at = 10'000.0 * operations_;
    const auto number = static_cast<std::uint32_t>(site);
    maker_.site(number, "MPI_Recv", site + 1);
    maker_.add(Kind::post_receive, at, {.bytes = 4096, .operation = operation, .site = number, .peer = 1, .tag = 5});
    if (hidden_us > 0) maker_.add(Kind::release, at, {.operation = operation, .site = number, .peer = 1});
    maker_.add(Kind::protocol, at, {.detail = 1, .operation = operation, .peer = 1});
    maker_.add(Kind::wait, at + 1,
               {.detail = static_cast<std::uint16_t>(hidden_us > 0),
                .duration_ns = waited_us * us,
                .operation = operation,
                .site = number,
                .extra = operation});
    maker_.add(Kind::call, at + 2, {.duration_ns = waited_us * us, .value = waited_us * us, .site = number, .extra = operation});
    maker_.add(Kind::complete, at + 3, {.bytes = 4096, .operation = operation, .peer = 1, .tag = 5});
    if (hidden_us > 0) maker_.add(Kind::release_end, at + 4, {.duration_ns = hidden_us * us, .operation = operation});
    return *this;
  }
  void write(const TraceDirectory& directory) { maker_.write(directory.file(rank_)); }
  TraceMaker& maker() { return maker_; }

 private:
  TraceMaker maker_;
  std::int32_t rank_;
  int operations_ = 0;
};

class Diff : public testing::Test {
 protected:
  Result run(const std::string& options = "") {
    before_.write(before_directory_);
    after_.write(after_directory_);
    return shell("$sluice diff " + options + " " + before_directory_.path().string() + " " + after_directory_.path().string());
  }
  json as_json(const std::string& options = "") {
    const Result result = run("--json " + options);
    EXPECT_EQ(result.status, 0) << result.output;
    return json::parse(result.output, nullptr, false);
  }

  Receiver before_;
  Receiver after_;
  TraceDirectory before_directory_;
  TraceDirectory after_directory_;
};

TEST_F(Diff, sites_are_judged_by_what_they_wait_and_sorted_by_its_change) {
  before_.receive(0x1000, 1000).receive(0x2000, 500).receive(0x3000, 300);
  after_.receive(0x1000, 900).receive(0x2000, 2000).receive(0x3000, 301);

  const json difference = as_json();

  ASSERT_EQ(difference["sites"].size(), 3U);
  const json& worse = difference["sites"][0];
  EXPECT_EQ(worse["name"], "MPI_Recv at 0x2000");
  EXPECT_EQ(worse["change"], "worse");
  EXPECT_EQ(worse["still_waited_change_ns"], 1500 * us);
  EXPECT_EQ(worse["still_waited_change_percent"], 300.0);
  EXPECT_EQ(worse["before"]["calls"], 1);
  EXPECT_EQ(worse["after"]["still_waited_ns"], 2000 * us);
  EXPECT_EQ(difference["sites"][1]["change"], "better");
  EXPECT_EQ(difference["sites"][1]["still_waited_change_ns"], -100 * static_cast<std::int64_t>(us));
  EXPECT_EQ(difference["sites"][2]["change"], "same");
  EXPECT_EQ(difference["all"]["still_waited_change_ns"], 1401 * us);
}

TEST_F(Diff, what_was_hidden_is_compared_by_site_peer_and_protocol) {
  before_.receive(0x1000, 1000);
  after_.receive(0x1000, 20, 980);

  const json difference = as_json();

  for (const char* const table : {"sites", "peers", "protocols"}) {
    ASSERT_EQ(difference[table].size(), 1U) << table;
    EXPECT_EQ(difference[table][0]["change"], "better") << table;
    EXPECT_EQ(difference[table][0]["hidden_change_ns"], 980 * us) << table;
    EXPECT_EQ(difference[table][0]["still_waited_change_percent"], -98.0) << table;
  }
  EXPECT_EQ(difference["peers"][0]["name"], "rank 0 with 1");
  EXPECT_EQ(difference["protocols"][0]["name"], "rput, up to 4 KB");
}

TEST_F(Diff, site_of_one_trace_only_is_told) {
  before_.receive(0x1000, 1000);
  after_.receive(0x2000, 700);

  const json sites = as_json()["sites"];

  ASSERT_EQ(sites.size(), 2U);
  EXPECT_EQ(sites[0]["change"], "only before");
  EXPECT_TRUE(sites[0]["after"].is_null());
  EXPECT_EQ(sites[1]["change"], "only after");
  EXPECT_TRUE(sites[1]["before"].is_null());
  EXPECT_TRUE(sites[1]["still_waited_change_percent"].is_null());
}

TEST_F(Diff, threshold_says_what_counts_as_a_change) {
  before_.receive(0x1000, 1000);
  after_.receive(0x1000, 1060);

  const auto change = [this](const std::string& options) { return as_json(options)["sites"][0]["change"]; };

  EXPECT_EQ(change(""), "worse");
  EXPECT_EQ(change("--threshold 7"), "same");
  EXPECT_EQ(change("--least 61"), "same");
  EXPECT_EQ(change("--threshold 0 --least 0"), "worse");
  EXPECT_EQ(run("--threshold -1").status, 2);
}

TEST_F(Diff, different_numbers_of_ranks_are_told) {
  before_.receive(0x1000, 1000);
  after_.receive(0x1000, 1000);
  Receiver(1, 2).receive(0x1000, 5).write(after_directory_);

  const Result result = run();

  EXPECT_TRUE(contains(result.output, "different numbers of ranks: 1 before, 2 after")) << result.output;
  EXPECT_EQ(as_json()["after"]["ranks_read"], 2);
}

TEST_F(Diff, text_leaves_out_what_did_not_change) {
  before_.receive(0x1000, 1000).receive(0x2000, 500);
  after_.receive(0x1000, 1000).receive(0x2000, 900);

  const Result result = run();

  EXPECT_FALSE(contains(result.output, "0x1000")) << result.output;
  EXPECT_TRUE(contains(result.output, "worse   ")) << result.output;
  EXPECT_TRUE(contains(result.output, "+400 µs  +80 %")) << result.output;
  EXPECT_TRUE(contains(result.output, "1 did not change (--all)")) << result.output;
  EXPECT_TRUE(contains(run("--all").output, "0x1000"));
  EXPECT_TRUE(contains(run("--most 0").output, "and 1 more (--most)"));
}

ReportTotals totals_with(const std::vector<std::string>& places) {
  ReportTotals totals;
  for (const std::string& place : places) {
    totals.sites.emplace_back();
    totals.sites.back().call = "MPI_Recv";
    totals.sites.back().place = place;
  }
  return totals;
}

TEST(difference, calls_of_an_edited_function_are_matched_in_the_order_of_their_lines) {
  const auto before = totals_with({"a.c:20 (step)", "a.c:9 (step)", "a.c:30 (end)", "b.c:1 (main)"});
  const auto after = totals_with({"a.c:12 (step)", "a.c:23 (step)", "a.c:30 (end)", "b.c:1 (main)", "b.c:5 (main)"});

  std::map<std::string, std::string> found;
  for (const Difference& site : compare(before, after, {}).sites) found[site.name] = site.name_before;

  EXPECT_EQ(found, (std::map<std::string, std::string>{{"MPI_Recv at a.c:12 (step)", "MPI_Recv at a.c:9 (step)"},
                                                       {"MPI_Recv at a.c:23 (step)", "MPI_Recv at a.c:20 (step)"},
                                                       {"MPI_Recv at a.c:30 (end)", ""},
                                                       {"MPI_Recv at b.c:1 (main)", ""},
                                                       {"MPI_Recv at b.c:5 (main)", ""}}));
}

TEST(difference, calls_are_not_matched_when_their_number_differs) {
  const auto differences = compare(totals_with({"a.c:9 (step)"}), totals_with({"a.c:12 (step)", "a.c:23 (step)"}), {});

  EXPECT_EQ(differences.sites.size(), 3U);
}

TEST_F(Diff, damage_of_either_trace_is_told_by_its_name) {
  before_.receive(0x1000, 1000);
  after_.receive(0x1000, 2000);
  EXPECT_EQ(run().status, 0);
  std::string file = after_.maker().bytes();
  file[file.size() - trace::chunk_bytes + trace::record_bytes + 20] ^= 1;
  TraceMaker::write_bytes(after_directory_.file(0), file);

  const std::string after = after_directory_.path().string();
  const Result result = shell("$sluice diff " + before_directory_.path().string() + " " + after);

  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(contains(result.output, "sluice diff: " + after + ": rank-000000.trace: offset ")) << result.output;
  EXPECT_EQ(shell("$sluice diff " + after + " " + before_directory_.path().string()).status, 3);
  EXPECT_EQ(shell("$sluice diff " + after + " /nowhere").status, 1);
}

}  // namespace
}  // namespace sluice
