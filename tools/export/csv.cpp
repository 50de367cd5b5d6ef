#include <map>
#include <string>
#include <vector>

#include "tools/export/formats.hpp"
#include "tools/trace/event_text.hpp"

namespace sluice {

namespace {

void append_field(Buffer& line, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line.append(text);
    return;
  }
  line.push_back('"');
  for (const char letter : text) {
    if (letter == '"') line.push_back('"');
    line.push_back(letter);
  }
  line.push_back('"');
}

/// The members of all kinds, each name once: columns behind those that every record has.
class Columns {
 public:
  explicit Columns(const Trace& trace) {
    for (const auto& file : trace.files()) {
      for (const auto& [number, kind] : file->table().kinds()) add(kind);
    }
    add(undescribed_kind());
  }

  void append_titles(Buffer& line) const {
    line.append(std::string_view("time_ns,rank,thread,event"));
    for (const std::string& name : names_) {
      line.push_back(',');
      append_field(line, name);
    }
    line.append(std::string_view("\r\n"));
  }

  void append_row(Buffer& line, const Event& event, std::int64_t start_ns, Sites& sites) {
    const TraceTable& table = event.file->table();
    fmt::format_to(fmt::appender(line), "{},{},{},", event.end_ns - start_ns, event.rank,
                   static_cast<std::int32_t>(event.thread));
    append_field(line, table.kind_name(event.record.kind));
    for (std::string& value : values_) value.clear();
    visit_members(event.record, table, sites,
                  [this](const std::string& name, std::string_view value) { values_[places_.at(name)] = value; });
    for (const std::string& value : values_) {
      line.push_back(',');
      append_field(line, value);
    }
    line.append(std::string_view("\r\n"));
  }

 private:
  void add(const TracedKind& kind) {
    for (const TracedMember& member : kind.members) {
      add(member.name);
      if (member.field == "site") add("at");
    }
  }
  void add(const std::string& name) {
    if (!places_.try_emplace(name, names_.size()).second) return;
    names_.push_back(name);
    values_.emplace_back();
  }

  std::vector<std::string> names_;
  std::map<std::string, std::size_t> places_;
  std::vector<std::string> values_;  // of one row
};

}  // namespace

void export_csv(const Trace& trace, OutputFile& file, Progress& progress) {
  Symbols symbols;
  std::map<const TraceFile*, Sites> sites;
  std::vector<const TraceFile*> files;
  for (const auto& each : trace.files()) {
    files.push_back(each.get());
    sites.try_emplace(each.get(), *each, symbols);
  }
  Columns columns(trace);
  columns.append_titles(file.buffer());
  TraceStream stream(files);
  for (Event event; file.goes_on() && stream.next(event); progress.advance())
    columns.append_row(file.buffer(), event, trace.start_ns(), sites.at(event.file));
}

}  // namespace sluice
