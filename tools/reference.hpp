// The options of the subcommands in the forms in which the manual and the shell want them; taken from the parser itself, so that
// they cannot differ from what it understands.
#pragma once

#include <string>

#include "tools/subcommand.hpp"

namespace sluice {

/// The OPTIONS section of a subcommand's manual page, without its heading.
std::string options_as_man_page(const CLI::App& subcommand);

/// A script that completes words for bash. An option whose type is written as "a|b|c" gets its values completed.
std::string bash_completion(const CLI::App& top);

/// The same for zsh, as a file `_sluice` in its search path of functions; with the first sentence of every option's help.
std::string zsh_completion(const CLI::App& top);

/// `sluice completion bash` and `sluice completion zsh`
class CompletionCommand : public Subcommand {
 public:
  explicit CompletionCommand(CLI::App& parent);
  [[nodiscard]] int execute() override;

 private:
  std::string shell_;
};

/// `sluice manual-options NAME` and `sluice manual-options --kinds`, for the build; not shown.
class ManualOptionsCommand : public Subcommand {
 public:
  explicit ManualOptionsCommand(CLI::App& parent);
  [[nodiscard]] int execute() override;

 private:
  std::string name_;
  bool kinds_ = false;
};

}  // namespace sluice
