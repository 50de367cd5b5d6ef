#include "tools/report/buffer_report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/registration/frequent_sends.hpp"
#include "tools/report/totals.hpp"
#include "tools/table_text.hpp"

namespace sluice {

namespace {

using nlohmann::json;
using Align = TextTable::Align;

constexpr std::array<const char*, BufferTotals::directions> direction_names{"sent, small", "received, small", "sent, large",
                                                                            "received, large"};
constexpr std::uint64_t paper_share = 25;  // FB, section 3.3.1; the default of SLUICE_FREQUENT_SHARE

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string show(const Spread& spread) {
  if (spread.count == 0) return "";
  if (spread.least == spread.most) return std::to_string(spread.least);
  return fmt::format("{}–{} (mean {:.0f})", spread.least, spread.most, spread.mean());
}

std::optional<std::uint32_t> as_number(std::uint32_t uses) {
  return uses == std::numeric_limits<std::uint32_t>::max() ? std::nullopt : std::optional(uses);
}

std::string show(const std::optional<std::uint32_t>& uses) { return uses ? std::to_string(*uses) : "never"; }

std::string overview(const Trace& trace, const BufferTotals& totals) {
  const trace::FileHeader& header = trace.files().front()->header();
  std::string text = fmt::format("{}: {} of {} ranks, {} buffers\n", header.program.data(), trace.files().size(), header.size,
                                 totals.buffers.size());
  if (totals.buffers.empty()) text += "no message of the program's came from a buffer or went into one\n";
  if (totals.saved_untold > 0)
    text += fmt::format("{} small messages left without their copy; the trace does not say which\n", totals.saved_untold);
  return text;
}

std::string direction_table(const BufferTotals& totals, const Palette& palette) {
  TextTable table({{"messages", Align::left},
                   {"number"},
                   {"buffers of a rank"},
                   {"uses of the most used"},
                   {"its bytes"},
                   {"from buffers used before"}});
  for (std::size_t i = 0; i < totals.by_direction.size(); ++i) {
    const DirectionTotals& direction = totals.by_direction[i];
    if (direction.messages == 0) continue;
    table.add({direction_names[i], std::to_string(direction.messages), show(direction.buffers), show(direction.most_uses),
               show(direction.bytes_of_most), percent(direction.again, direction.messages)});
  }
  return table.empty() ? "" : heading(palette, "use of buffers") + table.text(palette);
}

std::string size_table(const BufferTotals& totals, const Palette& palette) {
  std::vector<TextTable::Column> columns{{"size", Align::left}, {"messages"}, {"buffers"}, {"saved"}};
  for (const std::uint64_t uses : use_thresholds) columns.push_back({fmt::format("from use {}", uses)});
  if (!totals.costs.empty()) columns.insert(columns.end(), {{"frequent from use"}, {"of MPI_Send"}});
  TextTable table(columns);
  for (const auto& [number, size] : totals.by_size) {
    std::vector<std::string> row{name_of_size_class(number), std::to_string(size.messages), std::to_string(size.buffers),
                                 std::to_string(size.saved)};
    for (const std::uint64_t saved : size.would_save) row.push_back(std::to_string(saved));
    if (const auto needed = uses_needed(totals, bytes_of_size_class(number)))
      row.insert(row.end(), {show(needed->goes_on), show(needed->waits)});
    table.add(row);
  }
  if (table.empty()) return "";
  std::string text =
      heading(palette, "copies of small sends: saved, and what would be, by the use with which buffers are frequent");
  text += table.text(palette);
  if (totals.costs.empty()) text += "  how many uses pay was not measured: no buffer came back over an adapter\n";
  return text;
}

std::string frequent_table(const BufferTotals& totals, const Palette& palette) {
  const CopyTotals& copies = totals.copies;
  if (copies.messages == 0) return "";
  TextTable table({{"frequent from", Align::left}, {"buffers"}, {"of all"}, {"copies saved"}, {"of all"}, {"bytes"}});
  const auto add = [&](const std::string& from, std::uint64_t buffers, std::uint64_t saved, std::uint64_t bytes) {
    table.add({from, std::to_string(buffers), percent(buffers, copies.buffers), std::to_string(saved),
               percent(saved, copies.messages), show_size(bytes)});
  };
  const std::string uses = show(totals.uses_until_frequent);
  add(uses.empty() ? "in this job" : "in this job, use " + uses, totals.became_frequent, copies.saved, copies.saved_bytes);
  for (std::size_t i = 0; i < use_thresholds.size(); ++i)
    add(fmt::format("use {}", use_thresholds[i]), totals.frequent_buffers[i], copies.would_save[i], copies.would_save_bytes[i]);
  return heading(palette, "frequent buffers of small sends") + table.text(palette);
}

std::string buffer_table(const BufferTotals& totals, std::size_t max_rows, const Palette& palette) {
  TextTable table({{"rank"}, {"address"}, {"sent"}, {"received"}, {"bytes"}, {"saved"}, {"last by", Align::left}});
  for (const UsedBuffer& buffer : totals.buffers) {
    if (max_rows-- == 0) break;
    table.add({std::to_string(buffer.rank), fmt::format("{:#x}", buffer.address), std::to_string(buffer.sent),
               std::to_string(buffer.received), show_size(buffer.most_bytes), std::to_string(buffer.saved), buffer.site});
  }
  return table.empty() ? "" : heading(palette, "buffers") + table.text(palette);
}

json as_json(const Spread& spread) {
  if (spread.count == 0) return {};
  return {{"least", spread.least}, {"most", spread.most}, {"mean", spread.mean()}};
}

json as_json(const std::optional<std::uint32_t>& uses) { return uses ? json(*uses) : json(); }

json copies_as_json(const CopyTotals& copies) {
  json would = json::array();
  for (std::size_t i = 0; i < use_thresholds.size(); ++i) {
    would.push_back({{"from_use", use_thresholds[i]}, {"copies", copies.would_save[i]}, {"bytes", copies.would_save_bytes[i]}});
  }
  return {{"messages", copies.messages},       {"bytes", copies.bytes}, {"buffers", copies.buffers}, {"saved", copies.saved},
          {"saved_bytes", copies.saved_bytes}, {"would_save", would}};
}

json sizes_as_json(const BufferTotals& totals) {
  json list = json::array();
  for (const auto& [number, size] : totals.by_size) {
    list.push_back(copies_as_json(size));
    list.back()["size"] = name_of_size_class(number);
    const auto needed = uses_needed(totals, bytes_of_size_class(number));
    list.back()["is_measured"] = needed.has_value();
    list.back()["frequent_from_use"] = as_json(needed.value_or(UsesNeeded()).goes_on);
    list.back()["frequent_from_use_where_calls_wait"] = as_json(needed.value_or(UsesNeeded()).waits);
  }
  return list;
}

json costs_as_json(const BufferTotals& totals) {
  json list = json::array();
  for (const auto& [rank, costs] : totals.costs) {
    list.push_back({{"rank", rank},
                    {"copy_ns_per_byte", costs.copy_per_byte},
                    {"use_ns", costs.use},
                    {"wait_use_ns", costs.wait_use},
                    {"register_ns_per_page", costs.register_per_page}});
  }
  return list;
}

}  // namespace

std::optional<UsesNeeded> uses_needed(const BufferTotals& totals, std::uint64_t bytes) {
  if (totals.costs.empty()) return std::nullopt;
  const MeasuredCosts& costs = totals.costs.begin()->second;
  const auto share = static_cast<unsigned>(totals.frequent_share.value_or(paper_share));
  const auto with = [&](double use) {
    FrequentSends sends(share);
    sends.set_terms({costs.copy_per_byte, use, costs.register_per_page});
    return as_number(sends.uses_needed(bytes));
  };
  return UsesNeeded{with(costs.use), with(costs.wait_use)};
}

std::string buffers_as_text(const Trace& trace, const BufferTotals& totals, std::size_t max_rows) {
  const Palette palette(stdout);
  return overview(trace, totals) + direction_table(totals, palette) + size_table(totals, palette) +
         frequent_table(totals, palette) + buffer_table(totals, max_rows, palette);
}

json buffers_as_json(const Trace& trace, const BufferTotals& totals) {
  json directions = json::array();
  for (std::size_t i = 0; i < totals.by_direction.size(); ++i) {
    const DirectionTotals& direction = totals.by_direction[i];
    directions.push_back({{"messages", direction_names[i]},
                          {"number", direction.messages},
                          {"again", direction.again},
                          {"buffers", as_json(direction.buffers)},
                          {"most_uses", as_json(direction.most_uses)},
                          {"bytes_of_most", as_json(direction.bytes_of_most)}});
  }
  json frequent = json::array();
  for (std::size_t i = 0; i < use_thresholds.size(); ++i)
    frequent.push_back({{"from_use", use_thresholds[i]}, {"buffers", totals.frequent_buffers[i]}});
  json buffers = json::array();
  for (const UsedBuffer& buffer : totals.buffers) {
    buffers.push_back({{"rank", buffer.rank},
                       {"address", buffer.address},
                       {"sent", buffer.sent},
                       {"received", buffer.received},
                       {"bytes", buffer.most_bytes},
                       {"saved", buffer.saved},
                       {"site", buffer.site}});
  }
  return {{"program", trace.files().front()->header().program.data()},
          {"directions", directions},
          {"copies", copies_as_json(totals.copies)},
          {"sizes", sizes_as_json(totals)},
          {"frequent", frequent},
          {"became_frequent", totals.became_frequent},
          {"uses_until_frequent", as_json(totals.uses_until_frequent)},
          {"saved_untold", totals.saved_untold},
          {"costs", costs_as_json(totals)},
          {"buffers", buffers}};
}

}  // namespace sluice
