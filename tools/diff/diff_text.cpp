#include <fmt/format.h>

#include <cstdlib>

#include "tools/diff/diff.hpp"
#include "tools/table_text.hpp"

namespace sluice {

namespace {

using Align = TextTable::Align;

Colour colour_of(Change change) {
  if (change == Change::better) return Colour::green;
  if (change == Change::worse) return Colour::red;
  return change == Change::same ? Colour::grey : Colour::yellow;
}

std::string show_change(std::int64_t ns) {
  return (ns < 0 ? "-" : "+") + show_duration(static_cast<std::uint64_t>(std::abs(ns)));
}

std::string show_percent(std::int64_t change, Ns before) {
  return before == 0 ? "" : fmt::format("{:+.0f} %", 100.0 * static_cast<double>(change) / static_cast<double>(before));
}

std::string show_counts(std::uint64_t before, std::uint64_t after) {
  return before == after ? std::to_string(after) : fmt::format("{} to {}", before, after);
}

std::string what_is_it(const Difference& difference) {
  return difference.name + (difference.name_before.empty() ? "" : " (was " + difference.name_before + ")");
}

std::string table_of(const char* title, const char* counted, const char* what, const std::vector<Difference>& differences,
                     std::size_t max_rows, bool all, const Palette& palette) {
  TextTable table({{"", Align::left},
                   {counted},
                   {"waited before"},
                   {"after"},
                   {"change"},
                   {""},
                   {"hidden before"},
                   {"after"},
                   {"change"},
                   {what, Align::left}});
  std::size_t same = 0;
  std::size_t left_out = 0;
  for (const Difference& each : differences) {
    if (each.change == Change::same && !all) {
      ++same;
    } else if (max_rows == 0) {
      ++left_out;
    } else {
      --max_rows;
      table.add(
          {name_of(each.change), show_counts(each.before.calls, each.after.calls), show_duration(each.before.waited),
           show_duration(each.after.waited), show_change(each.waited()), show_percent(each.waited(), each.before.waited),
           show_duration(each.before.hidden), show_duration(each.after.hidden), show_change(each.hidden()), what_is_it(each)},
          colour_of(each.change));
    }
  }
  std::string text = "\n" + palette.paint(Colour::bold, title) + "\n";
  if (!table.empty()) text += table.text(palette);
  if (left_out > 0) text += fmt::format("  and {} more (--most)\n", left_out);
  if (same > 0) text += fmt::format("  {} did not change (--all)\n", same);
  return differences.empty() ? "" : text;
}

std::string heading(const char* when, const Compared& compared) {
  const trace::FileHeader& header = compared.trace->files().front()->header();
  return fmt::format("{}: {}: {}, {} of {} ranks, {} records in {}\n", when, compared.name, header.program.data(),
                     compared.trace->files().size(), header.size, compared.totals->records,
                     show_duration(compared.totals->lasted));
}

/// Sums over different ranks say little of one another.
std::string warning_of_ranks(const Compared& before, const Compared& after, const Palette& palette) {
  const std::size_t ranks_before = before.totals->ranks.size();
  const std::size_t ranks_after = after.totals->ranks.size();
  if (ranks_before == ranks_after) return "";
  return palette.paint(Colour::yellow,
                       fmt::format("different numbers of ranks: {} before, {} after", ranks_before, ranks_after)) +
         "\n";
}

}  // namespace

std::string differences_as_text(const Compared& before, const Compared& after, const Differences& differences,
                                std::size_t max_rows, bool all) {
  const Palette palette(stdout);
  const Difference& sum = differences.all;
  return heading("before", before) + heading("after ", after) + warning_of_ranks(before, after, palette) +
         fmt::format("still waited {} before, {} after: {} {} {}; hidden {} before, {} after\n", show_duration(sum.before.waited),
                     show_duration(sum.after.waited), show_change(sum.waited()), show_percent(sum.waited(), sum.before.waited),
                     palette.paint(colour_of(sum.change), name_of(sum.change)), show_duration(sum.before.hidden),
                     show_duration(sum.after.hidden)) +
         table_of("call sites", "calls", "call", differences.sites, max_rows, all, palette) +
         table_of("peers, by operation", "messages", "peer", differences.peers, max_rows, all, palette) +
         table_of("protocols, of received messages", "messages", "protocol and size", differences.protocols, max_rows, all,
                  palette);
}

}  // namespace sluice
