// `sluice export`: a trace in the formats of other tools.
#pragma once

#include <string>

#include "tools/trace_command.hpp"

namespace sluice {

class ExportCommand : public TraceCommand {
 public:
  explicit ExportCommand(CLI::App& parent);
  [[nodiscard]] int execute() override;

 private:
  void write(const Trace& trace) const;

  std::string format_;
  std::string output_;
};

}  // namespace sluice
