// `sluice check`: what on this machine, in this environment, will keep Sluice from working, or from working well, and what to
// do about it.
#pragma once

#include <string>

#include "tools/subcommand.hpp"

namespace sluice {

class CheckCommand : public Subcommand {
 public:
  explicit CheckCommand(CLI::App& parent);
  /// 0; 1 when there is a problem.
  [[nodiscard]] int execute() override;

 private:
  std::string program_;
  bool json_ = false;
};

}  // namespace sluice
