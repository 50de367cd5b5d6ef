#include <nlohmann/json.hpp>

#include "tools/report/report.hpp"

namespace sluice {

namespace {

using nlohmann::json;

json waiting_as_json(const Waiting& waiting) {
  return {{"would_have_blocked_ns", waiting.would_have_blocked()},
          {"hidden_ns", waiting.hidden()},
          {"waited_ns", waiting.waited},
          {"on_pages_ns", waiting.on_pages},
          {"still_waited_ns", waiting.still_waited()}};
}

json touches_as_json(const std::map<std::string, TouchTotals>& touches) {
  json list = json::array();
  for (const auto& [where, touch] : touches) list.push_back({{"where", where}, {"count", touch.count}, {"ns", touch.waited}});
  return list;
}

json site_as_json(const SiteTotals& site) {
  json object = waiting_as_json(site.waiting);
  object.update({{"call", site.call},
                 {"place", site.place},
                 {"calls", site.calls},
                 {"operations", site.operations},
                 {"bytes", site.bytes},
                 {"for_partner_ns", site.for_partner},
                 {"released", site.released},
                 {"released_unmatched", site.unmatched},
                 {"touched", site.touched},
                 {"first_touch_mean_ns", site.touched == 0 ? json() : json(site.touched_after / site.touched)},
                 {"first_touch_soonest_ns", site.touched == 0 ? json() : json(site.soonest_touch)},
                 {"touched_by", touches_as_json(site.touched_by)},
                 {"settled_by", touches_as_json(site.settled_by)},
                 {"not_released", site.not_released},
                 {"held", site.held},
                 {"held_ns", site.held_ns}});
  return object;
}

json peers_as_json(const ReportTotals& totals) {
  json list = json::array();
  for (const auto& [who, peer] : totals.peers) {
    list.push_back({{"rank", who.first},
                    {"peer", who.second},
                    {"transport", peer.transport},
                    {"sent", peer.sent},
                    {"bytes_sent", peer.bytes_sent},
                    {"received", peer.received},
                    {"bytes_received", peer.bytes_received},
                    {"receiving", waiting_as_json(peer.receiving)},
                    {"sending", waiting_as_json(peer.sending)},
                    {"touched", peer.touched},
                    {"first_touch_mean_ns", peer.touched == 0 ? json() : json(peer.touched_after / peer.touched)},
                    {"not_released", peer.not_released}});
  }
  return list;
}

json collectives_as_json(const ReportTotals& totals) {
  json list = json::array();
  for (const auto& [name, calls] : totals.collectives) {
    json late = json::array();
    for (const auto& [rank, times] : calls.late)
      late.push_back({{"rank", rank}, {"times", times.times}, {"waited_ns", times.waited}});
    list.push_back({{"call", calls.call},
                    {"place", calls.place},
                    {"calls", calls.calls},
                    {"through_lanes", calls.through_lanes},
                    {"nonblocking", calls.nonblocking},
                    {"released", calls.released},
                    {"bytes", calls.bytes},
                    {"lasted_ns", calls.lasted},
                    {"waited_ns", calls.waited},
                    {"for_late_ns", calls.for_late},
                    {"hidden_ns", calls.hidden},
                    {"late", late},
                    {"not_hidden", calls.not_hidden}});
  }
  return list;
}

json protocols_as_json(const ReportTotals& totals) {
  json list = json::array();
  for (const auto& [key, protocol] : totals.protocols) {
    list.push_back({{"protocol", key.first},
                    {"size", name_of_size_class(key.second)},
                    {"messages", protocol.messages},
                    {"bytes", protocol.bytes},
                    {"moving_ns", protocol.moving},
                    {"reasons", protocol.reasons}});
  }
  return list;
}

}  // namespace

json report_as_json(const Trace& trace, const ReportTotals& totals) {
  json sites = json::array();
  for (const SiteTotals* const site : by_waiting(totals)) sites.push_back(site_as_json(*site));
  json paths = json::array();
  for (const auto& [path, waiting] : totals.paths) {
    paths.push_back(waiting_as_json(waiting));
    paths.back()["path"] = path;
  }
  json ranks = json::array();
  for (const auto& [rank, waiting] : totals.ranks) {
    ranks.push_back(waiting_as_json(waiting));
    ranks.back()["rank"] = rank;
  }
  json counters = json::array();
  for (const auto& [name, counter] : totals.counters) {
    constexpr const char* units[] = {"number", "bytes", "ns"};
    counters.push_back({{"name", name}, {"value", counter.value}, {"unit", units[std::min<std::size_t>(counter.unit, 2)]}});
  }
  return {{"program", trace.files().front()->header().program.data()},
          {"records", totals.records},
          {"lasted_ns", totals.lasted},
          {"all", waiting_as_json(totals.all())},
          {"ranks", ranks},
          {"sites", sites},
          {"paths", paths},
          {"collectives", collectives_as_json(totals)},
          {"peers", peers_as_json(totals)},
          {"protocols", protocols_as_json(totals)},
          {"fallbacks", totals.fallbacks},
          {"migrations", touches_as_json(totals.migrations)},
          {"registrations", touches_as_json(totals.registrations)},
          {"counters", counters},
          {"unfinished", totals.unfinished},
          {"advice", advice(totals)}};
}

}  // namespace sluice
