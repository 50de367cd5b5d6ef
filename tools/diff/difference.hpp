// Two reports side by side: what is in both, and how much it changed. All times in nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/report/totals.hpp"

namespace sluice {

enum class Change { same, better, worse, only_before, only_after };

/// "better"
[[nodiscard]] const char* name_of(Change change);

/// What counts as a change: more than both.
struct Threshold {
  double percent = 5;
  Ns min = 50'000;
};

/// A line of a table, in one of the traces.
struct Side {
  std::uint64_t calls = 0;  // of sites; messages, of peers and protocols
  std::uint64_t bytes = 0;
  Ns waited = 0;  // still, in calls and on pages
  Ns hidden = 0;
};

struct Difference {
  std::string name;
  std::string name_before;  // of a call that is in another line now; empty otherwise
  Side before;
  Side after;
  Change change{};

  [[nodiscard]] std::int64_t waited() const { return static_cast<std::int64_t>(after.waited - before.waited); }
  [[nodiscard]] std::int64_t hidden() const { return static_cast<std::int64_t>(after.hidden - before.hidden); }
};

/// The largest change of waiting first, then the largest of what was hidden.
struct Differences {
  std::vector<Difference> sites;
  std::vector<Difference> peers;
  std::vector<Difference> protocols;
  Difference all;
};

/// Sites are matched by call, function, file and line, or by library and offset where that is all that is known. Of those that
/// are left over, calls of one function of one file are matched in the order of their lines, if both traces have as many: the
/// program was edited above them.
[[nodiscard]] Differences compare(const ReportTotals& before, const ReportTotals& after, const Threshold& threshold);

}  // namespace sluice
