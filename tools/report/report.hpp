// `sluice report`: where the time of a job went that waited for messages.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/report/totals.hpp"
#include "tools/trace_command.hpp"

namespace sluice {

/// Adds up all records of a trace, rank by rank. `name` stands before the progress.
ReportTotals add_up(const Trace& trace, const std::string& name);

/// Sites in the order in which they matter: what was still waited, and then what was hidden.
[[nodiscard]] std::vector<const SiteTotals*> by_waiting(const ReportTotals& totals);

/// What could be done about what is still waited, most important first: one sentence or two each.
[[nodiscard]] std::vector<std::string> advice(const ReportTotals& totals);

/// `max_rows`: lines in each table.
[[nodiscard]] std::string report_as_text(const Trace& trace, const ReportTotals& totals, std::size_t max_rows);
[[nodiscard]] nlohmann::json report_as_json(const Trace& trace, const ReportTotals& totals);

class ReportCommand : public TraceCommand {
 public:
  explicit ReportCommand(CLI::App& parent);
  [[nodiscard]] int execute() override;

 private:
  std::size_t max_ = 20;
  bool buffers_ = false;
  bool json_ = false;
};

}  // namespace sluice
