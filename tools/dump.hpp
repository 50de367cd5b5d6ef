// `sluice dump`: the records of a trace, one a line.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/trace_command.hpp"

namespace sluice {

class DumpCommand : public TraceCommand {
 public:
  explicit DumpCommand(CLI::App& parent);
  [[nodiscard]] int execute() override;

 private:
  /// Of one file, the numbers of the kinds that were asked for.
  [[nodiscard]] std::set<std::uint16_t> kinds_in(const TraceTable& table) const;
  [[nodiscard]] bool wanted(const Event& event, std::int64_t start_ns) const;
  [[nodiscard]] std::vector<const TraceFile*> wanted_files(const Trace& trace) const;
  void check_kinds(const std::vector<const TraceFile*>& files) const;

  std::vector<std::int32_t> ranks_;
  std::vector<std::string> kinds_;
  std::vector<std::int32_t> peers_;
  std::vector<std::int32_t> tags_;
  std::vector<std::uint32_t> operations_;
  double from_s_ = -std::numeric_limits<double>::infinity();
  double to_s_ = std::numeric_limits<double>::infinity();
  bool json_ = false;
};

}  // namespace sluice
