// What `sluice export` can write. Each reads the records of the trace once, in order of time, and holds what is under way at a
// time.
#pragma once

#include <filesystem>
#include <string_view>

#include "tools/export/output_file.hpp"
#include "tools/progress.hpp"
#include "tools/trace/trace.hpp"

namespace sluice {

/// RFC 4180: a line with the names of the columns, then a line for each record. A column for each member that a kind has.
void export_csv(const Trace& trace, OutputFile& file, Progress& progress);

/// Chrome trace events (JSON object format), for ui.perfetto.dev and chrome://tracing: a process for each rank, complete events
/// for what threads did, flows from sends to matches, asynchronous events for sends, receives, releases and what was held,
/// instants for the rest. `temporary`: a directory with room.
void export_perfetto(const Trace& trace, OutputFile& file, const std::filesystem::path& temporary, Progress& progress);

/// An archive of OTF2 in a directory that is not there yet or empty: `traces.otf2` is its anchor file. Throws std::runtime_error;
/// nothing is left then.
void export_otf2(const Trace& trace, const std::filesystem::path& directory, Progress& progress);
/// Empty, or why export_otf2 cannot be had.
[[nodiscard]] std::string_view why_no_otf2();

}  // namespace sluice
