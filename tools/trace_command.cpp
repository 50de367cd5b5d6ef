#include "tools/trace_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tools/exit_status.hpp"

namespace sluice {

TraceCommand::TraceCommand(CLI::App& parent, const std::string& name, const std::string& purpose)
    : Subcommand(parent, name, purpose) {
  command().add_option("trace", path_, "The directory that SLUICE_TRACE named, or one file of it")->required()->type_name("");
}

std::unique_ptr<Trace> TraceCommand::open() const { return std::make_unique<Trace>(path_); }

int TraceCommand::tell_damage(const Trace& trace) const { return tell_damage_of(trace, command().get_name()); }

int tell_damage_of(const Trace& trace, const std::string& command) {
  const DamageLog& damage = trace.damage();
  for (const Damage& one : damage.kept()) fmt::print(stderr, "sluice {}: {}\n", command, to_string(one));
  if (damage.found() > damage.kept().size())
    fmt::print(stderr, "sluice {}: and {} more\n", command, damage.found() - damage.kept().size());
  for (const auto& file : trace.files()) {
    if (const auto lost = file->lost_records(); lost > 0) {
      fmt::print(stderr, "sluice {}: rank {}: {} records are not in the trace (SLUICE_TRACE_LIMIT)\n", command, file->rank(),
                 lost);
    }
  }
  const auto expected = static_cast<std::size_t>(std::max(trace.files().front()->header().size, 0));
  if (trace.files().size() > 1 && trace.files().size() < expected)
    fmt::print(stderr, "sluice {}: {} of {} ranks have no file\n", command, expected - trace.files().size(), expected);
  return damage.found() == 0 ? exit_success : exit_damaged;
}

}  // namespace sluice
