// What every subcommand of `sluice` is: options that it declares when it is made, and a deed.
#pragma once

#include <string>

namespace CLI {
class App;  // its header takes seconds to compile
}

namespace sluice {

class Subcommand {
 public:
  virtual ~Subcommand() = default;
  Subcommand(const Subcommand&) = delete;
  Subcommand& operator=(const Subcommand&) = delete;

  /// The command line names this one.
  [[nodiscard]] bool chosen() const;
  /// Returns an exit status (exit_status.hpp). Errors are told on standard error, behind "sluice NAME: ".
  [[nodiscard]] virtual int execute() = 0;

 protected:
  Subcommand(CLI::App& parent, const std::string& name, const std::string& purpose);

  [[nodiscard]] CLI::App& command() const { return *command_; }

 private:
  CLI::App* command_;
};

}  // namespace sluice
