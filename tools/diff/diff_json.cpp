#include <nlohmann/json.hpp>

#include "tools/diff/diff.hpp"

namespace sluice {

namespace {

using nlohmann::json;

json side_as_json(const Side& side) {
  return {{"calls", side.calls}, {"bytes", side.bytes}, {"still_waited_ns", side.waited}, {"hidden_ns", side.hidden}};
}

/// Without a former value there is no percentage.
json percent(std::int64_t change, Ns before) {
  return before == 0 ? json() : json(100.0 * static_cast<double>(change) / static_cast<double>(before));
}

json as_json(const Difference& difference) {
  json object = {{"name", difference.name},
                 {"change", name_of(difference.change)},
                 {"before", difference.change == Change::only_after ? json() : side_as_json(difference.before)},
                 {"after", difference.change == Change::only_before ? json() : side_as_json(difference.after)},
                 {"still_waited_change_ns", difference.waited()},
                 {"still_waited_change_percent", percent(difference.waited(), difference.before.waited)},
                 {"hidden_change_ns", difference.hidden()},
                 {"hidden_change_percent", percent(difference.hidden(), difference.before.hidden)}};
  if (!difference.name_before.empty()) object["name_before"] = difference.name_before;
  return object;
}

json as_json(const std::vector<Difference>& differences) {
  json list = json::array();
  for (const Difference& each : differences) list.push_back(as_json(each));
  return list;
}

json as_json(const Compared& compared) {
  const trace::FileHeader& header = compared.trace->files().front()->header();
  return {{"trace", compared.name},
          {"program", header.program.data()},
          {"ranks", header.size},
          {"ranks_read", compared.totals->ranks.size()},
          {"records", compared.totals->records},
          {"lasted_ns", compared.totals->lasted}};
}

}  // namespace

json differences_as_json(const Compared& before, const Compared& after, const Differences& differences) {
  return {{"before", as_json(before)},           {"after", as_json(after)},
          {"all", as_json(differences.all)},     {"sites", as_json(differences.sites)},
          {"peers", as_json(differences.peers)}, {"protocols", as_json(differences.protocols)}};
}

}  // namespace sluice
