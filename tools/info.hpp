// `sluice info`: what would run, on what, and with which configuration.
#pragma once

#include <string>

#include "tools/subcommand.hpp"

namespace sluice {

class InfoCommand : public Subcommand {
 public:
  explicit InfoCommand(CLI::App& parent);
  /// 0, or the usage status when a variable of the environment has a bad value (which is told as well).
  [[nodiscard]] int execute() override;

 private:
  bool config_only_ = false;
  bool calibrate_ = false;
  std::string format_ = "text";
};

}  // namespace sluice
