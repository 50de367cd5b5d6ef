// What the subcommands that read a trace have in common: its argument, its damage, its exit status.
#pragma once

#include <memory>
#include <string>

#include "tools/subcommand.hpp"
#include "tools/trace/trace.hpp"

namespace sluice {

class TraceCommand : public Subcommand {
 protected:
  TraceCommand(CLI::App& parent, const std::string& name, const std::string& purpose);

  /// The trace that the user named. Throws std::runtime_error, as Trace does.
  [[nodiscard]] std::unique_ptr<Trace> open() const;
  /// Tells on standard error what is damaged, missing or lost; returns exit_success, or exit_damaged when something is damaged.
  [[nodiscard]] int tell_damage(const Trace& trace) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// As TraceCommand::tell_damage, for subcommands with several traces.
int tell_damage_of(const Trace& trace, const std::string& command);

}  // namespace sluice
