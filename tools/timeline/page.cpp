#include "tools/timeline/page.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "page_parts.hpp"  // made by embed.py
#include "tools/timeline/columns.hpp"
#include "tools/trace/sites.hpp"

namespace sluice::timeline {

namespace {

using nlohmann::json;

constexpr std::size_t max_frames_shown = 6;
constexpr const char* word_lists[] = {"protocol", "reason",       "ended",       "access",   "settle",     "release", "held",
                                      "match",    "registration", "eligibility", "fallback", "collective", "carried"};
/// Values of a list that are looked up: more than any list has.
constexpr std::uint32_t max_words = 64;
constexpr std::uint32_t max_bits = 16;

bool is_set_of_bits(std::string_view list) { return list == "release" || list == "match" || list == "carried"; }

/// The sites of all ranks under one numbering, 0 being none; only those that something refers to.
class PageSites {
 public:
  explicit PageSites(const Content& content) : content_(&content) {
    for (const TraceFile* const file : content.files) sites_.emplace_back(*file, symbols_);
  }

  std::uint64_t number(std::uint32_t lane, std::uint32_t site) {
    if (site == 0) return 0;
    const std::size_t file = content_->lanes->all()[lane].file;
    const auto [known, is_new] = numbers_.try_emplace({file, site}, 0);
    if (!is_new) return known->second;
    const json entry = as_json(sites_[file].at(site));
    const auto [same, is_first] =
        by_text_.try_emplace(entry.dump(-1, ' ', false, json::error_handler_t::replace), all_.size() + 1);
    if (is_first) all_.push_back(entry);
    return known->second = same->second;
  }

  [[nodiscard]] const json& all() const { return all_; }

 private:
  static json as_json(const Site& site) {
    json stack = json::array();
    for (std::size_t frame = site.program_frame + 1; frame < site.frames.size() && stack.size() < max_frames_shown; ++frame) {
      if (site.frames[frame - 1].function == "main") break;
      stack.push_back(site.frames[frame].text());
    }
    return {{"call", site.call}, {"place", site.place()}, {"callers", stack}};
  }

  const Content* content_;
  Symbols symbols_;
  std::vector<Sites> sites_;  // by file
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t> numbers_;
  std::map<std::string, std::uint64_t> by_text_;
  json all_ = json::array();
};

/// A table of several columns, one behind the other.
template <class Row>
class Table {
 public:
  explicit Table(const std::vector<Row>& rows) : rows_(&rows) {}

  template <class Get>
  void column(const char* name, Get&& get) {
    names_.push_back(name);
    for (const Row& row : *rows_) columns_.add(get(row));
  }
  /// Numbers that grow: the differences.
  template <class Get>
  void growing_column(const char* name, Get&& get) {
    names_.push_back(std::string("+") + name);
    std::int64_t last = 0;
    for (const Row& row : *rows_) {
      const std::int64_t next = get(row);
      columns_.add(next - last);
      last = next;
    }
  }

  [[nodiscard]] json as_json() const { return {{"rows", rows_->size()}, {"columns", names_}, {"data", columns_.base64()}}; }

 private:
  const std::vector<Row>* rows_;
  std::vector<std::string> names_;
  Columns columns_;
};

std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }
/// 0 for what was not told.
std::int64_t told(std::uint16_t number) { return number == not_told ? 0 : std::int64_t{number} + 1; }

template <class Row>
void add_about(Table<Row>& table) {
  table.column("operation", [](const Row& row) { return std::int64_t{row.about.operation}; });
  table.column("peer", [](const Row& row) { return std::int64_t{row.about.peer}; });
  table.column("tag", [](const Row& row) { return std::int64_t{row.about.tag}; });
  table.column("bytes", [](const Row& row) { return row.about.bytes; });
  table.column("protocol", [](const Row& row) { return told(row.about.protocol); });
  table.column("reason", [](const Row& row) { return told(row.about.reason); });
  table.column("fallback", [](const Row& row) { return told(row.about.fallback); });
  table.column("not_released", [](const Row& row) { return told(row.about.not_released); });
}

json slices_as_json(std::vector<Slice>& slices, PageSites& sites) {
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return std::tuple(a.lane, a.begin_ns, b.duration_ns, a.kind) < std::tuple(b.lane, b.begin_ns, a.duration_ns, b.kind);
  });
  Table table(slices);
  table.growing_column("lane", [](const Slice& slice) { return std::int64_t{slice.lane}; });
  table.growing_column("begin", [](const Slice& slice) { return slice.begin_ns; });
  table.column("duration", [](const Slice& slice) { return slice.duration_ns; });
  table.column("kind", [](const Slice& slice) { return static_cast<std::int64_t>(slice.kind); });
  table.column("row", [](const Slice& slice) { return std::int64_t{slice.row}; });
  table.column("detail", [](const Slice& slice) { return told(slice.detail); });
  table.column("site", [&](const Slice& slice) { return sites.number(slice.lane, slice.site); });
  table.column("waited", [](const Slice& slice) { return slice.waited_ns; });
  table.column("hidden", [](const Slice& slice) { return slice.hidden_ns; });
  table.column("touched_after", [](const Slice& slice) { return slice.touched_after_ns; });
  table.column("pages", [](const Slice& slice) { return std::int64_t{slice.pages}; });
  table.column("faults", [](const Slice& slice) { return std::int64_t{slice.faults}; });
  table.column("runs", [](const Slice& slice) { return std::int64_t{slice.runs}; });
  table.column("communicator", [](const Slice& slice) { return std::int64_t{slice.communicator}; });
  table.column("number", [](const Slice& slice) { return signed_of(slice.number); });
  table.column("how", [](const Slice& slice) { return std::int64_t{slice.how}; });
  add_about(table);
  return table.as_json();
}

json arrows_as_json(std::vector<Arrow>& arrows, PageSites& sites) {
  std::sort(arrows.begin(), arrows.end(), [](const Arrow& a, const Arrow& b) {
    return std::tuple(a.sent_ns, a.from_lane, a.to_lane, a.complete_ns) <
           std::tuple(b.sent_ns, b.from_lane, b.to_lane, b.complete_ns);
  });
  Table table(arrows);
  table.growing_column("sent", [](const Arrow& arrow) { return arrow.sent_ns; });
  table.column("matched", [](const Arrow& arrow) { return arrow.matched_ns - arrow.sent_ns; });
  table.column("complete", [](const Arrow& arrow) { return arrow.complete_ns - arrow.sent_ns; });
  table.column("from", [](const Arrow& arrow) { return std::int64_t{arrow.from_lane}; });
  table.column("to", [](const Arrow& arrow) { return std::int64_t{arrow.to_lane}; });
  table.column("from_site", [&](const Arrow& arrow) { return sites.number(arrow.from_lane, arrow.from_site); });
  table.column("to_site", [&](const Arrow& arrow) { return sites.number(arrow.to_lane, arrow.to_site); });
  table.column("send", [](const Arrow& arrow) { return std::int64_t{arrow.send}; });
  table.column("how", [](const Arrow& arrow) { return std::int64_t{arrow.how}; });
  add_about(table);
  return table.as_json();
}

/// Only what is not 0.
json density_as_json(const Density& density) {
  struct Cell {
    std::size_t lane;
    std::size_t bin;
    std::size_t kind;
    Density::Cell cell;
  };
  std::vector<Cell> cells;
  for (std::size_t lane = 0; lane < density.lanes().size(); ++lane) {
    for (std::size_t bin = 0; bin < density.lanes()[lane].size(); ++bin) {
      for (std::size_t kind = 0; kind < slice_kinds; ++kind) {
        const Density::Cell& cell = density.lanes()[lane][bin][kind];
        if (cell.time_ns != 0 || cell.begun != 0) cells.push_back({lane, bin, kind, cell});
      }
    }
  }
  Table table(cells);
  table.growing_column("lane", [](const Cell& cell) { return signed_of(cell.lane); });
  table.growing_column("bin", [](const Cell& cell) { return signed_of(cell.bin); });
  table.column("kind", [](const Cell& cell) { return signed_of(cell.kind); });
  table.column("time", [](const Cell& cell) { return cell.cell.time_ns; });
  table.column("begun", [](const Cell& cell) { return std::int64_t{cell.cell.begun}; });
  json result = table.as_json();
  result["bin_ns"] = density.bin_ns();
  return result;
}

json lanes_as_json(const Content& content) {
  json lanes = json::array();
  for (const Lane& lane : content.lanes->all()) {
    const auto& threads = content.files[lane.file]->table().threads();
    const auto thread = threads.find(lane.thread);
    const bool is_helper = thread != threads.end() && thread->second.role == trace::ThreadRole::helper;
    json entry{
        {"rank", lane.file}, {"thread", lane.thread == unknown_thread ? json() : json(lane.thread)}, {"helper", is_helper}};
    if (thread != threads.end()) entry["name"] = thread->second.name;
    lanes.push_back(std::move(entry));
  }
  return lanes;
}

json ranks_as_json(const Content& content) {
  json ranks = json::array();
  for (const TraceFile* const file : content.files) {
    const trace::FileHeader& header = file->header();
    ranks.push_back({{"rank", header.rank},
                     {"host", header.host.data()},
                     {"process", header.process},
                     {"clock_error_ns", file->clock_error_ns()},
                     {"lost_records", file->lost_records()},
                     {"ended", file->end().check != 0}});
  }
  return ranks;
}

/// A list has a word for each of its numbers, or of its bits.
json words_as_json(const TraceTable& table) {
  json lists = json::object();
  for (const char* const list : word_lists) {
    json& words = lists[list] = json::array();
    for (std::uint32_t number = 0; number < (is_set_of_bits(list) ? max_bits : max_words); ++number)
      words.push_back(is_set_of_bits(list) ? table.words_of_bits(list, 1U << number) : table.word(list, number));
  }
  return lists;
}

json damage_as_json(const DamageLog& damage) {
  json kept = json::array();
  for (const Damage& one : damage.kept()) kept.push_back(to_string(one));
  return {{"found", damage.found()}, {"kept", kept}};
}

json counts_as_json(const Counts& counts) {
  return {{"left_out", counts.left_out}, {"longest_left_out_ns", counts.longest_left_out_ns}};
}

json as_json(Content& content) {
  PageSites sites(content);
  const trace::FileHeader& first = content.files.front()->header();
  json page{{"name", content.name},
            {"program", first.program.data()},
            {"version", first.sluice_version.data()},
            {"size", first.size},
            {"from_ns", content.from_ns},
            {"to_ns", content.to_ns},
            {"start_wall_ns", first.start_wall_ns},
            {"ranks", ranks_as_json(content)},
            {"lanes", lanes_as_json(content)},
            {"words", words_as_json(content.files.front()->table())},
            {"slices", slices_as_json(content.slices, sites)},
            {"arrows", arrows_as_json(content.arrows, sites)},
            {"slice_counts", counts_as_json(content.slice_counts)},
            {"arrow_counts", counts_as_json(content.arrow_counts)},
            {"one_ended", content.one_ended},
            {"density", density_as_json(*content.density)},
            {"damage", damage_as_json(content.trace->damage())}};
  page["sites"] = sites.all();
  return page;
}

/// For the inside of a script element, which ends at "</script" and may begin a comment by "<!--".
std::string for_a_script(const json& page) {
  std::string text;
  for (const char letter : page.dump(-1, ' ', false, json::error_handler_t::replace)) {
    if (letter == '<') {
      text += "\\u003c";
    } else {
      text += letter;
    }
  }
  return text;
}

}  // namespace

void write_page(OutputFile& file, Content& content) {
  const std::string data = for_a_script(as_json(content));
  for (const std::string_view part : {page_before_data, std::string_view(data), page_after_data}) file.buffer().append(part);
}

}  // namespace sluice::timeline
