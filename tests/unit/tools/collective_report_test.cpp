// `sluice report` on traces of collective calls whose entries are known: who was late, for how long the others waited, what was
// hidden.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/tools/shell.hpp"
#include "tests/unit/tools/trace_maker.hpp"

namespace sluice {
namespace {

using nlohmann::json;
using trace::CollectiveKind;
using trace::Kind;

constexpr std::uint64_t us = 1000;
constexpr std::uint32_t lanes = trace::collective_lanes;
constexpr std::uint32_t messages = 0;
constexpr std::uint32_t nonblocking = trace::collective_nonblocking;
constexpr std::uint32_t communicator = 1;

/// Three ranks. Times in microseconds.
class Ranks {
 public:
  static constexpr std::uint32_t site = 1;
  static constexpr std::uint32_t wait_site = 2;
  static constexpr std::uint32_t operation = 7;

  Ranks() {
    for (TraceMaker& rank : ranks_) {
      rank.site(site, "MPI_Allreduce", 0x1001);
      rank.site(wait_site, "MPI_Wait", 0x2001);
      rank.entry(trace::EntryType::word, 0, "fallback\t5\tbuffer cannot be an alias block");
    }
  }
  struct Call {
    CollectiveKind kind = CollectiveKind::allreduce;
    std::uint32_t how = lanes;
    std::int32_t root = -1;
    std::uint64_t number = 1;
    std::uint32_t ranks = 3;
  };
  void enters(std::size_t rank, double at, const Call& call) {
    ranks_[rank].add(Kind::collective, at,
                     {.detail = static_cast<std::uint16_t>(call.kind),
                      .bytes = 1000,
                      .value = call.number,
                      .operation = operation,
                      .site = site,
                      .peer = call.root,
                      .context = communicator,
                      .extra = call.how});
  }
  void leaves(std::size_t rank, double entered, double at, double waited, const Call& call, std::int32_t seen_last = -1) {
    ranks_[rank].add(Kind::collective_end, at,
                     {.detail = static_cast<std::uint16_t>(call.how),
                      .duration_ns = ns(at - entered),
                      .value = ns(waited),
                      .operation = operation,
                      .site = site,
                      .peer = seen_last,
                      .extra = call.ranks});
  }
  /// Enters, waits and leaves.
  void takes_part(std::size_t rank, double entered, double at, double waited, const Call& call) {
    enters(rank, entered, call);
    leaves(rank, entered, at, waited, call);
  }
  TraceMaker& of(std::size_t rank) { return ranks_[rank]; }

  json report(std::initializer_list<std::size_t> ranks = {0, 1, 2}) {
    TraceDirectory directory;
    for (const std::size_t rank : ranks) ranks_[rank].write(directory.file(static_cast<int>(rank)));
    const Result result = shell("$sluice report --json " + directory.path().string());
    EXPECT_NE(result.output.find('{'), std::string::npos) << result.output;
    // In front of it, which ranks are missing.
    return json::parse(result.output.substr(result.output.find('{')), nullptr, false);
  }
  std::string text() {
    TraceDirectory directory;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) ranks_[rank].write(directory.file(static_cast<int>(rank)));
    return shell("$sluice report " + directory.path().string()).output;
  }
  static std::uint64_t ns(double microseconds) { return static_cast<std::uint64_t>(microseconds * 1000); }

 private:
  std::array<TraceMaker, 3> ranks_{TraceMaker(0, 3), TraceMaker(1, 3), TraceMaker(2, 3)};
};

TEST(collective_report, the_rank_that_enters_last_is_late_and_the_others_waited_for_it) {
  Ranks ranks;
  const Ranks::Call call;
  ranks.takes_part(0, 100, 510, 405, call);
  ranks.takes_part(1, 200, 512, 300, call);
  ranks.takes_part(2, 500, 505, 0, call);

  const json report = ranks.report();

  ASSERT_EQ(report["collectives"].size(), 1U) << report["collectives"];
  const json& calls = report["collectives"][0];
  EXPECT_EQ(calls["call"], "MPI_Allreduce");
  EXPECT_EQ(calls["calls"], 3);
  EXPECT_EQ(calls["through_lanes"], 3);
  EXPECT_EQ(calls["bytes"], 3000);
  EXPECT_EQ(calls["lasted_ns"], (410 + 312 + 5) * us);
  EXPECT_EQ(calls["waited_ns"], 705 * us);
  EXPECT_EQ(calls["for_late_ns"], (400 + 300) * us);
  EXPECT_EQ(calls["late"], json({{{"rank", 2}, {"times", 1}, {"waited_ns", 700 * us}}}));
  EXPECT_EQ(calls["not_hidden"], json({{"short, through lanes", 2}}));
  EXPECT_NE(ranks.text().find("2 (1 times, 700 µs)"), std::string::npos) << ranks.text();
}

TEST(collective_report, who_enters_later_than_the_root_does_not_delay_what_the_root_gives) {
  Ranks ranks;
  const Ranks::Call call{.kind = CollectiveKind::bcast, .how = messages, .root = 1};
  ranks.takes_part(0, 100, 350, 250, call);
  ranks.takes_part(1, 300, 310, 0, call);
  ranks.takes_part(2, 340, 345, 5, call);

  const json calls = ranks.report()["collectives"][0];

  EXPECT_EQ(calls["late"], json({{{"rank", 1}, {"times", 1}, {"waited_ns", 200 * us}}}));
}

TEST(collective_report, between_neighbours_nobody_else_is_late) {
  Ranks ranks;
  const Ranks::Call call{.kind = CollectiveKind::neighbour_alltoall, .how = messages};
  ranks.enters(0, 100, call);
  ranks.of(0).add(Kind::part, 101, {.value = Ranks::operation, .operation = 8, .site = Ranks::site, .peer = 1});
  ranks.of(0).add(Kind::part, 101, {.detail = 1, .value = Ranks::operation, .operation = 9, .site = Ranks::site, .peer = 2});
  ranks.leaves(0, 100, 350, 250, call);
  ranks.takes_part(1, 300, 310, 0, call);
  ranks.takes_part(2, 340, 345, 0, call);

  EXPECT_EQ(ranks.report()["collectives"][0]["late"], json({{{"rank", 1}, {"times", 1}, {"waited_ns", 200 * us}}}));
}

TEST(collective_report, who_enters_when_a_rank_has_left_did_not_delay_it) {
  Ranks ranks;
  const Ranks::Call call{.kind = CollectiveKind::scan, .how = messages};
  ranks.takes_part(0, 200, 205, 0, call);
  ranks.takes_part(1, 100, 210, 100, call);
  ranks.takes_part(2, 900, 905, 0, call);

  EXPECT_EQ(ranks.report()["collectives"][0]["late"], json({{{"rank", 0}, {"times", 1}, {"waited_ns", 100 * us}}}));
}

TEST(collective_report, without_the_trace_of_a_rank_it_goes_by_what_the_others_saw) {
  Ranks ranks;
  const Ranks::Call call;
  ranks.enters(0, 100, call);
  ranks.leaves(0, 100, 500, 390, call, 2);
  ranks.enters(1, 110, call);
  ranks.leaves(1, 110, 500, 380, call, 2);

  EXPECT_EQ(ranks.report({0, 1})["collectives"][0]["late"], json({{{"rank", 2}, {"times", 1}, {"waited_ns", 770 * us}}}));
}

TEST(collective_report, calls_of_disjoint_communicators_with_one_name_are_apart) {
  Ranks ranks;
  const Ranks::Call pair{.number = 1, .ranks = 2};
  const Ranks::Call alone{.number = std::uint64_t{2} << 32 | 1, .ranks = 1};
  ranks.takes_part(0, 100, 200, 90, pair);
  ranks.takes_part(1, 190, 200, 0, pair);
  ranks.takes_part(2, 195, 196, 0, alone);

  EXPECT_EQ(ranks.report()["collectives"][0]["late"], json({{{"rank", 1}, {"times", 1}, {"waited_ns", 90 * us}}}));
}

TEST(collective_report, a_nonblocking_call_hides_what_its_program_does_not_wait_for) {
  Ranks ranks;
  const Ranks::Call call{.how = nonblocking};
  ranks.enters(0, 100, call);
  ranks.leaves(0, 100, 1100, 10, call);
  ranks.of(0).add(Kind::wait, 1101, {.duration_ns = 301 * us, .operation = Ranks::operation, .site = Ranks::wait_site});
  ranks.takes_part(1, 900, 1000, 10, call);
  ranks.takes_part(2, 100, 1050, 10, call);

  const json calls = ranks.report()["collectives"][0];

  EXPECT_EQ(calls["nonblocking"], 3);
  EXPECT_EQ(calls["hidden_ns"], (1000 - 10 - 301 + 100 - 10 + 950 - 10) * us);
  EXPECT_EQ(calls["waited_ns"], 301 * us);
  EXPECT_EQ(calls["late"], json({{{"rank", 1}, {"times", 1}, {"waited_ns", 100 * us}}})) << "it waits since 800";
  EXPECT_EQ(calls["not_hidden"], json({{"waited for before it was done", 1}}));
}

TEST(collective_report, a_release_of_a_part_hides_for_its_call_and_parts_are_none_of_the_programs_messages) {
  Ranks ranks;
  const Ranks::Call call{.how = messages};
  TraceMaker& first = ranks.of(0);
  ranks.enters(0, 100, call);
  for (std::uint32_t part : {8U, 9U}) {
    first.add(Kind::part, 101, {.bytes = 500, .value = Ranks::operation, .operation = part, .site = Ranks::site, .peer = 1});
    first.add(Kind::release, 130, {.bytes = 500, .operation = part, .site = Ranks::site, .peer = 1});
    first.add(Kind::wait, 131, {.detail = 1, .duration_ns = 30 * us, .operation = part, .site = Ranks::site, .extra = 4});
  }
  ranks.leaves(0, 100, 131, 30, call);
  first.add(Kind::call, 131, {.duration_ns = 31 * us, .value = 30 * us, .site = Ranks::site, .extra = 4});
  first.add(Kind::match, 400, {.bytes = 500, .operation = 8, .peer = 1, .extra = 1});
  for (std::uint32_t part : {8U, 9U}) {
    const double at = part == 8 ? 430 : 630;
    first.add(Kind::complete, at, {.bytes = 500, .operation = part, .peer = 1});
    first.add(Kind::release_end, at, {.duration_ns = Ranks::ns(at - 130), .operation = part});
  }
  first.add(Kind::fault, 640, {.duration_ns = 20 * us, .operation = 9});
  ranks.takes_part(1, 600, 620, 0, call);
  ranks.takes_part(2, 600, 620, 0, call);

  const json report = ranks.report();

  const json& calls = report["collectives"][0];
  EXPECT_EQ(calls["released"], 1);
  EXPECT_EQ(calls["hidden_ns"], 500 * us) << "the longest of two";
  EXPECT_TRUE(calls["not_hidden"].empty()) << calls;
  EXPECT_TRUE(report["peers"].empty()) << report["peers"];
  EXPECT_TRUE(report["protocols"].empty()) << report["protocols"];
  EXPECT_EQ(report["sites"][0]["operations"], 3) << report["sites"];
  EXPECT_EQ(report["sites"][0]["bytes"], 3000);
  EXPECT_EQ(report["sites"][0]["hidden_ns"], 480 * us) << "a touch waited 20";
}

TEST(collective_report, why_a_call_by_messages_was_not_released_is_told) {
  Ranks ranks;
  const Ranks::Call call{.how = messages};
  for (const std::size_t rank : {0, 1}) {
    const double last_round = rank == 0 ? 300 : 20;
    ranks.enters(rank, 100, call);
    ranks.of(rank).add(Kind::part, 101, {.value = Ranks::operation, .operation = 8, .site = Ranks::site, .peer = 2});
    ranks.of(rank).add(Kind::not_released, 300, {.detail = 5, .operation = 8, .site = Ranks::site});
    ranks.of(rank).add(Kind::wait, 410, {.duration_ns = Ranks::ns(last_round), .operation = 8, .site = Ranks::site});
    ranks.leaves(rank, 100, 411, 305, call);
  }
  ranks.takes_part(2, 400, 411, 0, call);

  EXPECT_EQ(ranks.report()["collectives"][0]["not_hidden"],
            json({{"buffer cannot be an alias block", 1}, {"not in its last round", 1}}));
}

TEST(collective_report, a_call_in_which_a_rank_was_killed_is_named) {
  Ranks ranks;
  ranks.enters(0, 100, {});

  EXPECT_EQ(ranks.report()["unfinished"], json({{"MPI_Allreduce at 0x1000", 1}}));
}

TEST(collective_report, a_trace_without_collective_calls_has_none) {
  Ranks ranks;
  ranks.of(0).add(Kind::call, 100, {.site = Ranks::site, .extra = 1});

  EXPECT_TRUE(ranks.report()["collectives"].empty());
  EXPECT_EQ(ranks.text().find("collective calls"), std::string::npos);
}

}  // namespace
}  // namespace sluice
