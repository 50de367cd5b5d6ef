// `sluice run`: starts a program with the library preloaded and the configuration that the options ask for.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "runtime/config.hpp"

namespace sluice {

class RunCommand {
 public:
  /// Adds the subcommand, with one option for every variable of the configuration table.
  explicit RunCommand(CLI::App& parent);

  [[nodiscard]] bool chosen() const { return command_->parsed(); }
  /// Becomes the program, whose words are what the parser left over and what stood behind them; returns an exit status
  /// only when that fails.
  [[nodiscard]] int execute(const std::vector<std::string>& behind_dashes) const;

 private:
  void add_option(const ConfigVariable& variable);

  CLI::App* command_;
  std::map<std::string, std::string> settings_;  // variable: value
};

}  // namespace sluice
