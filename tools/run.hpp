// `sluice run`: starts a program with the library preloaded and the configuration that the options ask for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"
#include "tools/subcommand.hpp"

namespace sluice {

class RunCommand : public Subcommand {
 public:
  /// Adds the subcommand, with one option for every variable of the configuration table. `behind_dashes`: the words from the
  /// first "--" on, which CLI11 would give to the command itself.
  RunCommand(CLI::App& parent, std::vector<std::string> behind_dashes);

  /// Becomes the program, whose words are what the parser left over and what stood behind them; returns only when that fails.
  [[nodiscard]] int execute() override;

 private:
  void add_option(const ConfigVariable& variable);

  std::vector<std::string> behind_dashes_;
  std::map<std::string, std::string> settings_;  // variable: value
};

}  // namespace sluice
