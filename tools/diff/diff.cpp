#include "tools/diff/diff.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/report/report.hpp"
#include "tools/trace_command.hpp"

namespace sluice {

DiffCommand::DiffCommand(CLI::App& parent) : Subcommand(parent, "diff", "Compare two traces: what waits longer, what less") {
  command()
      .add_option("before", before_, "A trace: the directory that SLUICE_TRACE named, or one file of it")
      ->required()
      ->type_name("");
  command().add_option("after", after_, "The trace to compare with it")->required()->type_name("");
  command()
      .add_option("--threshold", percent_, "How many percent count as a change; 5 otherwise")
      ->check(CLI::NonNegativeNumber)
      ->type_name("PERCENT");
  command()
      .add_option("--least", min_us_, "How many microseconds count as a change; 50 otherwise")
      ->check(CLI::NonNegativeNumber)
      ->type_name("MICROSECONDS");
  command().add_option("--most", max_, "How many lines a table has at most; 20 otherwise")->type_name("NUMBER");
  command().add_flag("--all", all_, "Print also what did not change");
  command().add_flag("--json", json_, "Print JSON, with all lines");
}

int DiffCommand::execute() {
  const Trace before(before_);
  const Trace after(after_);
  const ReportTotals totals_before = add_up(before, "sluice diff: before");
  const ReportTotals totals_after = add_up(after, "sluice diff: after");
  const Differences differences =
      compare(totals_before, totals_after, {percent_, static_cast<Ns>(std::min(min_us_, 1e15) * 1000)});
  const Compared from{before_, &before, &totals_before};
  const Compared to{after_, &after, &totals_after};
  if (json_) {
    fmt::print("{}\n", differences_as_json(from, to, differences).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}", differences_as_text(from, to, differences, max_, all_));
  }
  const int status = tell_damage_of(before, "diff: " + before_);
  return std::max(status, tell_damage_of(after, "diff: " + after_));
}

}  // namespace sluice
