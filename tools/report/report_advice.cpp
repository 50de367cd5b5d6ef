// What a user can do about waiting that is left. Each rule looks at one site, and says nothing when another cause is larger.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/engine/statistics.hpp"
#include "tools/report/report.hpp"
#include "tools/table_text.hpp"

namespace sluice {

namespace {

constexpr std::size_t max_lines = 10;
/// Less than that of all waiting is not worth a line.
constexpr double min_share = 0.01;
constexpr Ns at_once = 50'000;

/// What to do about a reason for which receives are not released; empty where nothing can be done or need be.
std::string remedy_for(const std::string& reason) {
  static const std::map<std::string, const char*> remedies = {
      {describe(Fallback::wildcard_unmatched), "name source and tag of the receive where the program knows them"},
      {describe(Fallback::not_contiguous), "receive into contiguous memory and unpack where the data is used"},
      {describe(Fallback::host_outstanding), "finish nonblocking collectives, one-sided epochs and file operations before it"},
      {describe(Fallback::foreign_handler), "do not let the program handle SIGSEGV"},
      {describe(Fallback::not_eligible), "receive into memory of the heap that is neither shared, locked nor on a stack"},
      {describe(Fallback::mode_matched_only), "SLUICE_RELEASE=early"},
      {describe(Fallback::errors_return), "SLUICE_RELEASE=early, if errors are no part of what the program does"},
      {describe(Fallback::concurrent_calls), "ask for MPI_THREAD_SERIALIZED or less if the threads take turns"},
      {describe(Fallback::shared_window), "free windows of shared memory that are not used any more"},
      {describe(Fallback::send_not_offered), "send from the same buffer again and again, not from a new one"},
  };
  const auto found = remedies.find(reason);
  return found == remedies.end() ? "" : found->second;
}

std::string name_of(const SiteTotals& site) { return site.call.empty() ? site.place : site.call + " at " + site.place; }

/// Whoever waited longest.
const std::pair<const std::string, TouchTotals>* worst_of(const std::map<std::string, TouchTotals>& all) {
  const auto worst =
      std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second.waited < b.second.waited; });
  return worst == all.end() ? nullptr : &*worst;
}

std::string about_touches(const SiteTotals& site) {
  const auto* const worst = worst_of(site.touched_by);
  if (!worst || site.touched == 0 || worst->second.waited < site.waiting.still_waited() / 2) return "";
  const Ns after = site.touched_after / site.touched;
  const std::string when = after < at_once ? "at once" : show_duration(after) + " after its release";
  return fmt::format(
      "{} is touched {} because of {}: {} still waited there. Whatever does not need the data and is moved in between is hidden.",
      name_of(site), when, worst->first, show_duration(worst->second.waited));
}

std::string about_settling(const SiteTotals& site) {
  const auto* const worst = worst_of(site.settled_by);
  if (!worst || worst->second.waited < site.waiting.still_waited() / 2) return "";
  return fmt::format(
      "What {} receives is needed by {} before it is there: {} still waited. Whatever can go before that call is hidden.",
      name_of(site), worst->first, show_duration(worst->second.waited));
}

std::string about_refusals(const SiteTotals& site) {
  const auto& reasons = site.not_released;
  const auto most =
      std::max_element(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == reasons.end() || site.waiting.waited < site.waiting.still_waited() / 2) return "";
  const std::string remedy = remedy_for(most->first);
  if (remedy.empty()) return "";
  return fmt::format("{} is not released ({}): {} waited. To have it released: {}.", name_of(site), most->first,
                     show_duration(site.waiting.waited), remedy);
}

std::string about_partners(const SiteTotals& site) {
  if (site.for_partner < site.waiting.still_waited() / 2) return "";
  const bool sends = site.call.find("end") != std::string::npos && site.call.find("Sendrecv") == std::string::npos;
  return fmt::format("{} waits for {}: {} pass before {}.", name_of(site), sends ? "its receivers" : "its senders",
                     show_duration(site.for_partner), sends ? "they take the message" : "the message is there");
}

}  // namespace

std::vector<std::string> advice(const ReportTotals& totals) {
  std::vector<std::string> lines;
  const auto least = static_cast<Ns>(min_share * static_cast<double>(totals.all().would_have_blocked()));
  for (const SiteTotals* const site : by_waiting(totals)) {
    if (lines.size() == max_lines || site->waiting.still_waited() <= least) break;
    for (const auto& rule : {about_touches, about_settling, about_refusals, about_partners}) {
      std::string line = rule(*site);
      if (line.empty()) continue;
      lines.push_back(std::move(line));
      break;
    }
  }
  return lines;
}

}  // namespace sluice
