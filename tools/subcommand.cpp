#include "tools/subcommand.hpp"

#include <CLI/CLI.hpp>

namespace sluice {

Subcommand::Subcommand(CLI::App& parent, const std::string& name, const std::string& purpose)
    : command_(parent.add_subcommand(name, purpose)) {}

bool Subcommand::chosen() const { return command_->parsed(); }

}  // namespace sluice
