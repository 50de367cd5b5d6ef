// `sluice report` on traces whose waits are known.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/tools/shell.hpp"
#include "tests/unit/tools/trace_maker.hpp"

namespace sluice {
namespace {

using nlohmann::json;
using trace::Kind;

constexpr std::uint16_t ended_complete = 0;
constexpr std::uint16_t ended_released = 1;
constexpr std::uint64_t us = 1000;

/// A program of one rank that receives from rank 1: its calls, one after another, in microseconds.
class Program {
 public:
  Program() : maker_(0, 2) {
    maker_.site(recv, "MPI_Recv", 0x1001);
    maker_.site(waitall, "MPI_Waitall", 0x2001);
    maker_.site(touch, "", 0x3001);
    maker_.entry(trace::EntryType::word, 0, "fallback\t0\twildcard receive, message not known yet");
  }
  static constexpr std::uint32_t recv = 1;
  static constexpr std::uint32_t waitall = 2;
  static constexpr std::uint32_t touch = 3;

  void post(std::uint32_t operation, double at) {
    maker_.add(Kind::post_receive, at, {.bytes = 1 << 20, .operation = operation, .site = recv, .peer = 1, .tag = 5});
  }
  void match(std::uint32_t operation, double at) {
    maker_.add(Kind::match, at,
               {.detail = trace::match_rendezvous, .bytes = 1 << 20, .operation = operation, .peer = 1, .tag = 5});
  }
  void complete(std::uint32_t operation, double at) {
    maker_.add(Kind::complete, at, {.bytes = 1 << 20, .operation = operation, .peer = 1, .tag = 5}, helper);
  }
  void release(std::uint32_t operation, double at, std::uint32_t site = recv) {
    maker_.add(Kind::release, at, {.bytes = 1 << 20, .operation = operation, .site = site, .peer = 1});
  }
  void release_end(std::uint32_t operation, double at, double lasted, double touched_after = 0) {
    const std::uint16_t touched = touched_after > 0 ? trace::release_touched : std::uint16_t{0};
    maker_.add(Kind::release_end, at,
               {.detail = touched, .duration_ns = ns(lasted), .value = ns(touched_after), .operation = operation}, helper);
  }
  void wait(std::uint32_t operation, double at, double lasted, std::uint16_t ended, std::uint32_t call,
            std::uint32_t site = recv) {
    maker_.add(Kind::wait, at, {.detail = ended, .duration_ns = ns(lasted), .operation = operation, .site = site, .extra = call});
  }
  void call(double at, double waited, std::uint32_t number, std::uint32_t site = recv) {
    maker_.add(Kind::call, at, {.duration_ns = ns(waited), .value = ns(waited), .site = site, .extra = number});
  }
  void fault(std::uint32_t operation, double at, double lasted) {
    maker_.add(Kind::fault, at, {.duration_ns = ns(lasted), .operation = operation, .site = touch});
  }
  void not_released(std::uint32_t operation, double at) {
    maker_.add(Kind::not_released, at, {.operation = operation, .site = recv});
  }

  /// What the command says of it.
  json report() {
    TraceDirectory directory;
    maker_.write(directory.file(0));
    const Result result = shell("$sluice report --json " + directory.path().string());
    EXPECT_EQ(result.status, 0) << result.output;
    return json::parse(result.output, nullptr, false);
  }
  TraceMaker& maker() { return maker_; }

 private:
  static constexpr std::uint32_t helper = 1;  // thread
  static std::uint64_t ns(double microseconds) { return static_cast<std::uint64_t>(microseconds * 1000); }

  TraceMaker maker_;
};

TEST(sluice_report, late_sender_is_waited_for_and_named_the_cause) {
  Program program;
  program.post(1, 100);
  program.match(1, 1100);
  program.complete(1, 1140);
  program.wait(1, 1150, 1050, ended_complete, 1);
  program.call(1150, 1050, 1);

  const json report = program.report();

  const json& site = report["sites"][0];
  EXPECT_EQ(site["call"], "MPI_Recv");
  EXPECT_EQ(site["calls"], 1);
  EXPECT_EQ(site["bytes"], 1 << 20);
  EXPECT_EQ(site["would_have_blocked_ns"], 1050 * us);
  EXPECT_EQ(site["still_waited_ns"], 1050 * us);
  EXPECT_EQ(site["for_partner_ns"], 1000 * us);
  EXPECT_EQ(site["hidden_ns"], 0);
  EXPECT_TRUE(contains(report["advice"][0], "waits for its senders")) << report["advice"];
}

TEST(sluice_report, release_that_nobody_touches_is_hidden_whole) {
  Program program;
  program.post(1, 100);
  program.release(1, 120);
  program.wait(1, 120, 20, ended_released, 1);
  program.call(121, 20, 1);
  program.match(1, 500);
  program.complete(1, 620);
  program.release_end(1, 620, 500);

  const json site = program.report()["sites"][0];

  EXPECT_EQ(site["would_have_blocked_ns"], 520 * us);
  EXPECT_EQ(site["hidden_ns"], 500 * us);
  EXPECT_EQ(site["still_waited_ns"], 20 * us);
  EXPECT_EQ(site["released"], 1);
  EXPECT_EQ(site["touched"], 0);
  EXPECT_TRUE(site["first_touch_mean_ns"].is_null());
}

TEST(sluice_report, touch_that_waits_is_told_with_its_place) {
  Program program;
  program.post(1, 100);
  program.release(1, 120);
  program.wait(1, 120, 20, ended_released, 1);
  program.call(121, 20, 1);
  program.complete(1, 620);
  program.release_end(1, 620, 500, 10);
  program.fault(1, 625, 495);

  const json report = program.report();

  const json& site = report["sites"][0];
  EXPECT_EQ(site["on_pages_ns"], 495 * us);
  EXPECT_EQ(site["hidden_ns"], 5 * us);
  EXPECT_EQ(site["first_touch_mean_ns"], 10 * us);
  EXPECT_EQ(site["touched_by"][0]["where"], "0x3000");
  EXPECT_EQ(report["peers"][0]["first_touch_mean_ns"], 10 * us);
  EXPECT_TRUE(contains(report["advice"][0], "MPI_Recv at 0x1000 is touched at once because of 0x3000")) << report["advice"];
}

TEST(sluice_report, call_that_releases_several_saves_the_longest_once) {
  Program program;
  program.post(1, 100);
  program.post(2, 101);
  program.release(1, 130, Program::waitall);
  program.release(2, 131, Program::waitall);
  program.wait(1, 132, 30, ended_released, 9, Program::waitall);
  program.wait(2, 132, 30, ended_released, 9, Program::waitall);
  program.call(133, 30, 9, Program::waitall);
  program.complete(1, 530);
  program.release_end(1, 530, 400);
  program.complete(2, 731);
  program.release_end(2, 731, 600);

  const json report = program.report();

  const json& site = report["sites"][0];
  EXPECT_EQ(site["call"], "MPI_Waitall");
  EXPECT_EQ(site["operations"], 2);
  EXPECT_EQ(site["would_have_blocked_ns"], 630 * us);
  EXPECT_EQ(site["hidden_ns"], 600 * us);
  EXPECT_EQ(report["all"]["hidden_ns"], 600 * us);
  EXPECT_EQ(report["peers"][0]["receiving"]["hidden_ns"], 1000 * us) << "by operation";
}

TEST(sluice_report, release_that_is_over_before_its_call_returns_counts) {
  Program program;
  program.post(1, 100);
  program.release(1, 130);
  program.release_end(1, 140, 10);
  program.complete(1, 140);
  program.wait(1, 141, 30, ended_released, 4);
  program.call(142, 30, 4);

  EXPECT_EQ(program.report()["sites"][0]["hidden_ns"], 10 * us);
}

TEST(sluice_report, reason_for_no_release_is_told_with_its_remedy) {
  Program program;
  program.post(1, 100);
  program.not_released(1, 110);
  program.match(1, 120);
  program.complete(1, 1100);
  program.wait(1, 1100, 1000, ended_complete, 1);
  program.call(1101, 1000, 1);

  const json report = program.report();

  EXPECT_EQ(report["sites"][0]["not_released"]["wildcard receive, message not known yet"], 1);
  EXPECT_EQ(report["peers"][0]["not_released"]["wildcard receive, message not known yet"], 1);
  EXPECT_TRUE(contains(report["advice"][0], "name source and tag")) << report["advice"];
}

TEST(sluice_report, call_that_was_still_waiting_at_the_end_is_named) {
  Program program;
  program.post(1, 100);
  program.maker().add(Kind::waiting, 1100, {.duration_ns = 1000 * us, .operation = 1, .site = Program::recv});

  EXPECT_EQ(program.report()["unfinished"]["MPI_Recv at 0x1000"], 1);
}

TEST(sluice_report, damage_is_told_and_the_rest_counted) {
  TraceDirectory directory;
  Program program;
  program.post(1, 100);
  program.call(1150, 1050, 1);
  std::string file = program.maker().bytes();
  file[file.size() - trace::chunk_bytes + trace::record_bytes + 20] ^= 1;  // in the first record
  TraceMaker::write_bytes(directory.file(0), file);

  const Result result = shell("$sluice report " + directory.path().string());

  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(contains(result.output, "rank-000000.trace: offset ")) << result.output;
  EXPECT_TRUE(contains(result.output, "MPI_Recv at 0x1000")) << result.output;
}

/// Two lines of the program call a library, which waits.
Program calls_by_two_lines() {
  constexpr std::uint64_t program = 1;
  constexpr std::uint64_t library = 2;
  Program two_lines;
  two_lines.maker().module(program, "/usr/bin/program");
  two_lines.maker().module(library, "/usr/lib/libsolver.so");
  const trace::Frame in_library = trace::make_frame(library, 0x501);
  const trace::Frame main = trace::make_frame(program, 0x901);
  two_lines.maker().site(10, "MPI_Recv", {in_library, trace::make_frame(program, 0x101), main});
  two_lines.maker().site(11, "MPI_Recv", {in_library, trace::make_frame(program, 0x201), main});
  std::uint32_t number = 0;
  for (const auto& [site, waited] : {std::pair(10U, 50.0), std::pair(11U, 300.0), std::pair(10U, 20.0)}) {
    ++number;
    two_lines.call(1000.0 * number, waited, number, site);
  }
  return two_lines;
}

TEST(sluice_report, call_paths_bring_a_wait_in_a_library_under_the_programs_line) {
  Program program = calls_by_two_lines();
  program.maker().entry(trace::EntryType::configuration, 0, "SLUICE_TRACE_PATHS=24");

  const json report = program.report();

  ASSERT_EQ(report["sites"].size(), 2U) << report["sites"];
  EXPECT_EQ(report["sites"][0]["place"], "program+0x200 through libsolver.so+0x500");
  EXPECT_EQ(report["sites"][0]["waited_ns"], 300 * us);
  EXPECT_EQ(report["sites"][1]["place"], "program+0x100 through libsolver.so+0x500");
  EXPECT_EQ(report["sites"][1]["calls"], 2);
  ASSERT_EQ(report["paths"].size(), 2U);
  EXPECT_EQ(report["paths"][0]["path"], json({"program+0x900", "program+0x100", "libsolver.so+0x500", "MPI_Recv"}));
  EXPECT_EQ(report["paths"][0]["waited_ns"], 70 * us);
}

TEST(sluice_report, call_paths_are_a_tree_whose_places_have_what_lies_beyond) {
  Program program = calls_by_two_lines();
  program.maker().entry(trace::EntryType::configuration, 0, "SLUICE_TRACE_PATHS=24");
  TraceDirectory directory;
  program.maker().write(directory.file(0));

  const std::string text = shell("$sluice report " + directory.path().string()).output;

  EXPECT_TRUE(contains(text, " 370 µs  program+0x900\n")) << text;
  EXPECT_TRUE(contains(text, " 300 µs    program+0x200\n")) << text;
  EXPECT_TRUE(contains(text, " 300 µs      libsolver.so+0x500\n")) << text;
  EXPECT_TRUE(contains(text, "70.0 µs    program+0x100\n")) << text;
  EXPECT_TRUE(contains(text, "70.0 µs        MPI_Recv\n")) << text;
}

TEST(sluice_report, without_call_paths_who_called_a_library_is_not_told) {
  Program program = calls_by_two_lines();
  program.maker().entry(trace::EntryType::configuration, 0, "SLUICE_TRACE_PATHS=0");

  const json report = program.report();

  ASSERT_EQ(report["sites"].size(), 1U) << report["sites"];
  EXPECT_EQ(report["sites"][0]["place"], "libsolver.so+0x500");
  EXPECT_TRUE(report["paths"].empty());
}

}  // namespace
}  // namespace sluice
