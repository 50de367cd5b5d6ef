#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/report/path_tree.hpp"
#include "tools/report/report.hpp"
#include "tools/table_text.hpp"

namespace sluice {

namespace {

using Align = TextTable::Align;

std::string most_frequent(const std::map<std::string, std::uint64_t>& counts) {
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? "" : fmt::format("{} ({})", most->first, most->second);
}

std::string share(Ns part, Ns whole) {
  return whole == 0 ? "0 %" : fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string overview(const Trace& trace, const ReportTotals& totals) {
  const trace::FileHeader& header = trace.files().front()->header();
  const Waiting all = totals.all();
  return fmt::format(
      "{}: {} of {} ranks, {} records in {}\nwould have blocked {}, of which {} were hidden ({}), and {} still waited\n",
      header.program.data(), trace.files().size(), header.size, totals.records, show_duration(totals.lasted),
      show_duration(all.would_have_blocked()), show_duration(all.hidden()), share(all.hidden(), all.would_have_blocked()),
      show_duration(all.still_waited()));
}

/// Nobody may touch the data, and yet a call may need it.
std::string first_touch(const SiteTotals& site) {
  if (site.released == 0) return "";
  if (site.touched > 0) return show_duration(site.touched_after / site.touched);
  return site.settled_by.empty() ? "never" : "by a call";
}

std::string site_table(const ReportTotals& totals, std::size_t max_rows, const Palette& palette) {
  TextTable table({{"calls"},
                   {"bytes"},
                   {"would block"},
                   {"hidden"},
                   {"waited"},
                   {"for partner"},
                   {"on pages"},
                   {"released"},
                   {"first touch"},
                   {"call", Align::left},
                   {"not released because", Align::left}});
  const auto sites = by_waiting(totals);
  for (const SiteTotals* const site : sites) {
    if (max_rows-- == 0) break;
    const Waiting& waiting = site->waiting;
    const std::string touch = first_touch(*site);
    table.add({std::to_string(std::max(site->calls, site->operations)), show_size(site->bytes),
               show_duration(waiting.would_have_blocked()), show_duration(waiting.hidden()), show_duration(waiting.waited),
               show_duration(site->for_partner), show_duration(waiting.on_pages), std::to_string(site->released), touch,
               site->call.empty() ? site->place : site->call + " at " + site->place, most_frequent(site->not_released)});
  }
  return table.empty() ? "" : heading(palette, "call sites") + table.text(palette);
}

void add_paths(const PathNode& node, std::size_t depth, TextTable& table) {
  for (const PathNode& next : node.callees) {
    table.add({show_duration(next.waiting.would_have_blocked()), show_duration(next.waiting.hidden()),
               show_duration(next.waiting.still_waited()), std::string(2 * depth, ' ') + next.place});
    add_paths(next, depth + 1, table);
  }
}

/// `max_rows` paths to the end; the places on the way to them do not count.
std::string path_table(const ReportTotals& totals, std::size_t max_rows, const Palette& palette) {
  TextTable table({{"would block"}, {"hidden"}, {"waited"}, {"called by, and calls", Align::left}});
  add_paths(path_tree(totals.paths, max_rows), 0, table);
  return table.empty() ? "" : heading(palette, "call paths") + table.text(palette);
}

/// Whom the others waited for longest: "2 (4 times, 1.2 ms)".
std::string latest(const CollectiveTotals& calls) {
  const auto most = std::max_element(calls.late.begin(), calls.late.end(),
                                     [](const auto& a, const auto& b) { return a.second.waited < b.second.waited; });
  if (most == calls.late.end()) return "";
  return fmt::format("{} ({} times, {})", most->first, most->second.times, show_duration(most->second.waited));
}

std::string collective_table(const ReportTotals& totals, std::size_t max_rows, const Palette& palette) {
  TextTable table({{"calls"},
                   {"bytes"},
                   {"lasted"},
                   {"waited"},
                   {"for late ranks"},
                   {"hidden"},
                   {"call", Align::left},
                   {"latest rank", Align::left},
                   {"not hidden because", Align::left}});
  std::vector<const CollectiveTotals*> rows;
  for (const auto& [name, calls] : totals.collectives) rows.push_back(&calls);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->waited > b->waited; });
  for (const CollectiveTotals* const calls : rows) {
    if (max_rows-- == 0) break;
    table.add({std::to_string(calls->calls), show_size(calls->bytes), show_duration(calls->lasted), show_duration(calls->waited),
               show_duration(calls->for_late), show_duration(calls->hidden), calls->call + " at " + calls->place, latest(*calls),
               most_frequent(calls->not_hidden)});
  }
  return table.empty() ? "" : heading(palette, "collective calls") + table.text(palette);
}

std::string peer_table(const ReportTotals& totals, std::size_t max_rows, const Palette& palette) {
  using Row = std::pair<std::pair<std::int32_t, std::int32_t>, PeerTotals>;
  std::vector<Row> rows(totals.peers.begin(), totals.peers.end());
  const auto waited = [](const Row& row) { return row.second.receiving.still_waited() + row.second.sending.still_waited(); };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return waited(a) > waited(b); });
  TextTable table({{"rank"},
                   {"peer"},
                   {"over", Align::left},
                   {"sent"},
                   {"bytes"},
                   {"received"},
                   {"bytes"},
                   {"receives would block"},
                   {"hidden"},
                   {"waited"},
                   {"sends would block"},
                   {"hidden"},
                   {"waited"},
                   {"first touch"},
                   {"not released because", Align::left}});
  for (const auto& [who, peer] : rows) {
    if (max_rows-- == 0) break;
    table.add({std::to_string(who.first), who.second < 0 ? "any" : std::to_string(who.second), peer.transport,
               std::to_string(peer.sent), show_size(peer.bytes_sent), std::to_string(peer.received),
               show_size(peer.bytes_received), show_duration(peer.receiving.would_have_blocked()),
               show_duration(peer.receiving.hidden()), show_duration(peer.receiving.still_waited()),
               show_duration(peer.sending.would_have_blocked()), show_duration(peer.sending.hidden()),
               show_duration(peer.sending.still_waited()),
               peer.touched == 0 ? "" : show_duration(peer.touched_after / peer.touched), most_frequent(peer.not_released)});
  }
  return table.empty() ? "" : heading(palette, "peers, by operation") + table.text(palette);
}

std::string protocol_table(const ReportTotals& totals, const Palette& palette) {
  TextTable table({{"protocol", Align::left},
                   {"size", Align::left},
                   {"messages"},
                   {"bytes"},
                   {"each took"},
                   {"chosen because", Align::left}});
  for (const auto& [key, protocol] : totals.protocols) {
    table.add({key.first, name_of_size_class(key.second), std::to_string(protocol.messages), show_size(protocol.bytes),
               show_duration(protocol.moving / std::max<std::uint64_t>(protocol.messages, 1)), most_frequent(protocol.reasons)});
  }
  return table.empty() ? "" : heading(palette, "protocols, of received messages") + table.text(palette);
}

std::string events_table(const char* title, const std::map<std::string, TouchTotals>& events, const Palette& palette) {
  TextTable table({{"times"}, {"took"}, {"what", Align::left}});
  for (const auto& [what, event] : events) table.add({std::to_string(event.count), show_duration(event.waited), what});
  return table.empty() ? "" : heading(palette, title) + table.text(palette);
}

std::string counter_table(const ReportTotals& totals, const Palette& palette) {
  constexpr std::uint32_t bytes = 1;
  constexpr std::uint32_t nanoseconds = 2;
  TextTable table({{"all ranks"}, {"counter", Align::left}});
  for (const auto& [name, counter] : totals.counters) {
    if (counter.value == 0) continue;
    table.add({counter.unit == nanoseconds ? show_duration(counter.value)
                                           : (counter.unit == bytes ? show_size(counter.value) : std::to_string(counter.value)),
               name});
  }
  return table.empty() ? "" : heading(palette, "counters") + table.text(palette);
}

std::string list(const char* title, const std::vector<std::string>& lines, const Palette& palette) {
  std::string text;
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text.empty() ? "" : heading(palette, title) + text;
}

}  // namespace

std::string report_as_text(const Trace& trace, const ReportTotals& totals, std::size_t max_rows) {
  const Palette palette(stdout);
  std::vector<std::string> unfinished;
  for (const auto& [where, count] : totals.unfinished) unfinished.push_back(fmt::format("{} ({} times)", where, count));
  std::vector<std::string> fallbacks;
  for (const auto& [reason, count] : totals.fallbacks) fallbacks.push_back(fmt::format("{} ({} times)", reason, count));
  return overview(trace, totals) + site_table(totals, max_rows, palette) + path_table(totals, max_rows, palette) +
         collective_table(totals, max_rows, palette) + peer_table(totals, max_rows, palette) + protocol_table(totals, palette) +
         list("transfers that could not go as they had begun", fallbacks, palette) +
         events_table("memory made alias blocks", totals.migrations, palette) +
         events_table("memory and adapters", totals.registrations, palette) + counter_table(totals, palette) +
         list("waiting when the trace ended", unfinished, palette) + list("advice", advice(totals), palette);
}

}  // namespace sluice
