#include "tools/report/report.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/progress.hpp"
#include "tools/report/rank_account.hpp"

namespace sluice {

ReportTotals add_up(const Trace& trace, const std::string& name) {
  ReportTotals totals;
  Symbols symbols;
  std::map<std::string, std::size_t> site_numbers;
  Progress progress(name, trace.chunks() * trace::records_per_chunk);
  std::int64_t last = trace.start_ns();
  for (const auto& file : trace.files()) {
    totals.ranks[file->rank()];
    RankAccount account(*file, symbols, totals, site_numbers);
    RankStream stream(*file);
    for (Event event; stream.next(event);) {
      progress.advance();
      account.add(event);
      last = std::max(last, event.end_ns);
    }
    account.finish();
  }
  totals.lasted = static_cast<Ns>(last - trace.start_ns());
  return totals;
}

std::vector<const SiteTotals*> by_waiting(const ReportTotals& totals) {
  std::vector<const SiteTotals*> sites;
  for (const SiteTotals& site : totals.sites) sites.push_back(&site);
  std::stable_sort(sites.begin(), sites.end(), [](const SiteTotals* a, const SiteTotals* b) {
    const auto key = [](const SiteTotals& site) { return std::pair(site.waiting.still_waited(), site.waiting.hidden()); };
    return key(*a) > key(*b);
  });
  return sites;
}

ReportCommand::ReportCommand(CLI::App& parent)
    : TraceCommand(parent, "report", "Tell where a job waited, what was hidden, and what to do about the rest") {
  command().add_option("--most", most_, "How many lines a table has at most; 20 otherwise")->type_name("NUMBER");
  command().add_flag("--json", json_, "Print JSON, with all lines");
}

int ReportCommand::execute() {
  const auto trace = open();
  const ReportTotals totals = add_up(*trace, "sluice report");
  if (json_) {
    fmt::print("{}\n", report_as_json(*trace, totals).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}", report_as_text(*trace, totals, most_));
  }
  return tell_damage(*trace);
}

}  // namespace sluice
