#include "tools/export/export.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "tools/exit_status.hpp"
#include "tools/export/formats.hpp"
#include "tools/interruption.hpp"

namespace sluice {

ExportCommand::ExportCommand(CLI::App& parent)
    : TraceCommand(parent, "export", "Write a trace in the format of another tool: Perfetto, OTF2, CSV") {
  command()
      .add_option(
          "--format", format_,
          "perfetto: Chrome trace events, for ui.perfetto.dev; otf2: an archive for Vampir and its like; csv: a line for each "
          "record")
      ->required()
      ->check(CLI::IsMember({"perfetto", "otf2", "csv"}))
      ->type_name("perfetto|otf2|csv");
  command()
      .add_option("-o,--output", output_, "The file, or for otf2 the directory, to write; without it standard output")
      ->type_name("PATH");
}

int ExportCommand::execute() {
  const bool is_otf2 = format_ == "otf2";
  if (is_otf2 && (!why_no_otf2().empty() || output_.empty())) {
    fmt::print(stderr, "sluice export: --format otf2: {}\n",
               why_no_otf2().empty() ? "an archive is a directory, which --output has to name" : why_no_otf2());
    return exit_usage;
  }
  const auto trace = open();
  const Interruptible interruptible;
  write(*trace);
  return tell_damage(*trace);
}

void ExportCommand::write(const Trace& trace) const {
  // All but CSV read the records twice (slices.hpp).
  const std::size_t times = format_ == "csv" ? 1 : 2;
  Progress progress("sluice export", times * trace.chunks() * trace::records_per_chunk);
  if (format_ == "otf2") return export_otf2(trace, output_, progress);
  OutputFile file(output_);
  if (format_ == "csv") {
    export_csv(trace, file, progress);
  } else {
    export_perfetto(trace, file, directory_with_room(output_), progress);
  }
  file.finish();
}

}  // namespace sluice
