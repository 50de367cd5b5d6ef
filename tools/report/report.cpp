#include "tools/report/report.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/progress.hpp"
#include "tools/report/buffer_report.hpp"
#include "tools/report/collective_account.hpp"
#include "tools/report/rank_account.hpp"

namespace sluice {

namespace {

void print(const std::string& text) { fmt::print("{}", text); }

std::string as_text(const nlohmann::json& value) {
  return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// Once more from the beginning, with all ranks side by side.
void add_collectives(const Trace& trace, Symbols& symbols, ReportTotals& totals) {
  std::vector<const TraceFile*> files;
  for (const auto& file : trace.files()) files.push_back(file.get());
  CollectiveAccount account(symbols, totals);
  TraceStream stream(files, Reading::again);
  for (Event event; stream.next(event);) account.add(event);
  account.finish();
}

}  // namespace

ReportTotals add_up(const Trace& trace, const std::string& name) {
  ReportTotals totals;
  Symbols symbols;
  std::map<std::string, std::size_t> site_numbers;
  Progress progress(name, trace.chunks() * trace::records_per_chunk);
  std::int64_t last = trace.start_ns();
  bool has_collectives = false;
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
    has_collectives |= account.has_collectives();
  }
  if (has_collectives) add_collectives(trace, symbols, totals);
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
  command().add_flag("--buffers", buffers_, "Tell how often buffers are used again, and how many copies that saves");
  command().add_option("--most", max_, "How many lines a table has at most; 20 otherwise")->type_name("NUMBER");
  command().add_flag("--json", json_, "Print JSON, with all lines");
}

int ReportCommand::execute() {
  const auto trace = open();
  if (buffers_) {
    const BufferTotals totals = add_up_buffers(*trace, "sluice report");
    print(json_ ? as_text(buffers_as_json(*trace, totals)) : buffers_as_text(*trace, totals, max_));
  } else {
    const ReportTotals totals = add_up(*trace, "sluice report");
    print(json_ ? as_text(report_as_json(*trace, totals)) : report_as_text(*trace, totals, max_));
  }
  return tell_damage(*trace);
}

}  // namespace sluice
