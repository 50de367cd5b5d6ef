#include "tools/dump.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>

#include "tools/exit_status.hpp"
#include "tools/progress.hpp"
#include "tools/trace/event_text.hpp"

namespace sluice {

namespace {

constexpr std::size_t write_bytes = std::size_t{1} << 16;
constexpr double ns_in_a_second = 1e9;

template <class Number>
bool among(const std::vector<Number>& list, Number value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

/// What a file needs while its events are printed.
struct Printed {
  Sites sites;
  std::set<std::uint16_t> kinds;
};

/// False when nobody reads any more: the other end of a pipe has gone.
bool flush(Buffer& buffer) {
  const bool written = std::fwrite(buffer.data(), 1, buffer.size(), stdout) == buffer.size();
  buffer.clear();
  return written;
}

}  // namespace

DumpCommand::DumpCommand(CLI::App& parent) : TraceCommand(parent, "dump", "Print the records of a trace, in order of time") {
  const auto list = [this](const char* name, auto& target, const char* what) {
    command().add_option(name, target, what)->delimiter(',')->type_name("LIST");
  };
  list("--rank", ranks_, "Only records of these ranks");
  list("--kind", kinds_, "Only records of these kinds, such as wait or release_end");
  list("--peer", peers_, "Only records about these peers");
  list("--tag", tags_, "Only records with these tags");
  list("--operation", operations_, "Only records of these sends and receives");
  command()
      .add_option("--from", from_s_, "Only what was over at this time or later, in seconds from the start of the trace")
      ->type_name("SECONDS");
  command().add_option("--to", to_s_, "Only what was over before this time")->type_name("SECONDS");
  command().add_flag("--json", json_, "Print JSON, one object a line");
}

std::set<std::uint16_t> DumpCommand::kinds_in(const TraceTable& table) const {
  std::set<std::uint16_t> numbers;
  for (const auto& [number, kind] : table.kinds()) {
    if (std::find(kinds_.begin(), kinds_.end(), kind.name) != kinds_.end()) numbers.insert(static_cast<std::uint16_t>(number));
  }
  return numbers;
}

bool DumpCommand::wanted(const Event& event, std::int64_t start_ns) const {
  const double time_s = static_cast<double>(event.end_ns - start_ns) / ns_in_a_second;
  return time_s >= from_s_ && time_s < to_s_ && among(peers_, event.record.peer) && among(tags_, event.record.tag) &&
         among(operations_, event.record.operation);
}

std::vector<const TraceFile*> DumpCommand::wanted_files(const Trace& trace) const {
  std::vector<const TraceFile*> files;
  for (const auto& file : trace.files()) {
    if (among(ranks_, file->rank())) files.push_back(file.get());
  }
  return files;
}

void DumpCommand::check_kinds(const std::vector<const TraceFile*>& files) const {
  for (const std::string& name : kinds_) {
    const auto knows = [&](const TraceFile* file) {
      const auto& kinds = file->table().kinds();
      return std::any_of(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.second.name == name; });
    };
    if (!files.empty() && std::none_of(files.begin(), files.end(), knows))
      throw std::runtime_error(fmt::format("--kind {}: there is no such kind of record; sluice-dump(1) lists them", name));
  }
}

int DumpCommand::execute() {
  const auto trace = open();
  const auto files = wanted_files(*trace);
  check_kinds(files);
  Symbols symbols;
  std::map<const TraceFile*, Printed> printed;
  std::size_t chunks = 0;
  for (const TraceFile* const file : files) {
    printed.emplace(file, Printed{Sites(*file, symbols), kinds_in(file->table())});
    chunks += file->chunks().size();
  }
  TraceStream stream(files);
  Progress progress("sluice dump", chunks * trace::records_per_chunk);
  Buffer buffer;
  bool is_read = true;
  for (Event event; is_read && stream.next(event);) {
    progress.advance();
    Printed& from = printed.at(event.file);
    if ((!kinds_.empty() && !from.kinds.contains(event.record.kind)) || !wanted(event, trace->start_ns())) continue;
    (json_ ? append_json : append_text)(buffer, event, trace->start_ns(), event.file->table(), from.sites);
    if (buffer.size() >= write_bytes) is_read = flush(buffer);
  }
  flush(buffer);
  return tell_damage(*trace);
}

}  // namespace sluice
