#include "tools/diff/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace sluice {

namespace {

using Sides = std::map<std::string, Side>;

Side side_of(const SiteTotals& site) {
  return {std::max(site.calls, site.operations), site.bytes, site.waiting.still_waited(), site.waiting.hidden()};
}

Sides sites_of(const ReportTotals& totals) {
  Sides sides;
  for (const SiteTotals& site : totals.sites)
    sides[site.call.empty() ? site.place : site.call + " at " + site.place] = side_of(site);
  return sides;
}

Sides peers_of(const ReportTotals& totals) {
  Sides sides;
  for (const auto& [who, peer] : totals.peers) {
    Waiting waiting = peer.receiving;
    waiting += peer.sending;
    const std::string name = fmt::format("rank {} with {}", who.first, who.second < 0 ? "any" : std::to_string(who.second));
    sides[name] = {peer.sent + peer.received, peer.bytes_sent + peer.bytes_received, waiting.still_waited(), waiting.hidden()};
  }
  return sides;
}

Sides protocols_of(const ReportTotals& totals) {
  Sides sides;
  for (const auto& [key, protocol] : totals.protocols) {
    sides[key.first + ", " + name_of_size_class(key.second)] = {protocol.messages, protocol.bytes,
                                                                protocol.waiting.still_waited(), protocol.waiting.hidden()};
  }
  return sides;
}

Change judged(const Side& before, const Side& after, const Threshold& threshold) {
  const Ns larger = std::max(before.waited, after.waited);
  const Ns by = larger - std::min(before.waited, after.waited);
  if (by <= threshold.min || static_cast<double>(by) * 100 <= threshold.percent * static_cast<double>(before.waited))
    return Change::same;
  return after.waited < before.waited ? Change::better : Change::worse;
}

/// "MPI_Recv at solver.f90:212 (step)" in two: without the line, and the line. No line: there is none.
std::pair<std::string, int> without_line(const std::string& name) {
  const std::size_t function = name.rfind(" (");
  const std::size_t colon = function == std::string::npos ? function : name.rfind(':', function);
  if (colon == std::string::npos) return {name, 0};
  return {name.substr(0, colon) + name.substr(function), std::atoi(name.c_str() + colon + 1)};
}

/// By what is left of the name without its line, in order of lines.
std::map<std::string, std::map<int, std::string>> by_function(const Sides& sides, const Sides& others) {
  std::map<std::string, std::map<int, std::string>> names;
  for (const auto& [name, side] : sides) {
    const auto [function, line] = without_line(name);
    if (line > 0 && !others.contains(name)) names[function][line] = name;
  }
  return names;
}

/// The names of today for names that are there no more.
std::map<std::string, std::string> moved(const Sides& before, const Sides& after) {
  std::map<std::string, std::string> names;
  const auto gone = by_function(before, after);
  const auto come = by_function(after, before);
  for (const auto& [function, lines] : gone) {
    const auto found = come.find(function);
    if (found == come.end() || found->second.size() != lines.size()) continue;
    auto now = found->second.begin();
    for (const auto& [line, name] : lines) names[name] = (now++)->second;
  }
  return names;
}

void sort(std::vector<Difference>& differences) {
  const auto key = [](const Difference& each) { return std::pair(std::abs(each.waited()), std::abs(each.hidden())); };
  std::stable_sort(differences.begin(), differences.end(),
                   [&](const Difference& a, const Difference& b) { return key(a) > key(b); });
}

std::vector<Difference> compare(const Sides& before, Sides after, const std::map<std::string, std::string>& moves,
                                const Threshold& threshold) {
  std::vector<Difference> differences;
  for (const auto& [name, side] : before) {
    const auto move = moves.find(name);
    const auto found = after.find(move == moves.end() ? name : move->second);
    if (found == after.end()) {
      differences.push_back({name, "", side, {}, Change::only_before});
    } else {
      differences.push_back(
          {found->first, move == moves.end() ? "" : name, side, found->second, judged(side, found->second, threshold)});
      after.erase(found);
    }
  }
  for (const auto& [name, side] : after) differences.push_back({name, "", {}, side, Change::only_after});
  sort(differences);
  return differences;
}

Side sum_of(const ReportTotals& totals) {
  Side sum;
  for (const SiteTotals& site : totals.sites) {
    sum.calls += site.calls;
    sum.bytes += site.bytes;
  }
  const Waiting all = totals.all();
  sum.waited = all.still_waited();
  sum.hidden = all.hidden();
  return sum;
}

}  // namespace

const char* name_of(Change change) {
  constexpr const char* names[] = {"same", "better", "worse", "only before", "only after"};
  return names[static_cast<std::size_t>(change)];
}

Differences compare(const ReportTotals& before, const ReportTotals& after, const Threshold& threshold) {
  const Sides sites_before = sites_of(before);
  const Sides sites_after = sites_of(after);
  const Side all_before = sum_of(before);
  const Side all_after = sum_of(after);
  return {compare(sites_before, sites_after, moved(sites_before, sites_after), threshold),
          compare(peers_of(before), peers_of(after), {}, threshold),
          compare(protocols_of(before), protocols_of(after), {}, threshold),
          {"all", "", all_before, all_after, judged(all_before, all_after, threshold)}};
}

}  // namespace sluice
