// `sluice timeline`: a trace as one HTML page, to look at.
//
// Memory is bounded whatever the trace: the page has the longest slices and messages, up to a number that the user chooses; what
// the other slices add up to is kept by lane and bin of time (density.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tools/trace_command.hpp"

namespace sluice {

class TimelineCommand : public TraceCommand {
 public:
  explicit TimelineCommand(CLI::App& parent);
  [[nodiscard]] int execute() override;

 private:
  [[nodiscard]] std::vector<const TraceFile*> wanted_files(const Trace& trace) const;

  std::string output_ = "timeline.html";
  std::size_t max_ = 100000;
  std::vector<std::int32_t> ranks_;
  double from_s_ = -std::numeric_limits<double>::infinity();
  double to_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace sluice
