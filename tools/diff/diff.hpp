// `sluice diff`: what got better or worse between two traces.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/diff/difference.hpp"
#include "tools/subcommand.hpp"
#include "tools/trace/trace.hpp"

namespace sluice {

/// A trace, and what it adds up to.
struct Compared {
  std::string name;
  const Trace* trace;
  const ReportTotals* totals;
};

/// `most`: lines in each table. `all`: also lines that did not change.
[[nodiscard]] std::string differences_as_text(const Compared& before, const Compared& after, const Differences& differences,
                                              std::size_t max_rows, bool all);
[[nodiscard]] nlohmann::json differences_as_json(const Compared& before, const Compared& after, const Differences& differences);

class DiffCommand : public Subcommand {
 public:
  explicit DiffCommand(CLI::App& parent);
  [[nodiscard]] int execute() override;

 private:
  std::string before_;
  std::string after_;
  double percent_ = Threshold{}.percent;
  double min_us_ = static_cast<double>(Threshold{}.min) / 1000;
  std::size_t max_ = 20;
  bool all_ = false;
  bool json_ = false;
};

}  // namespace sluice
