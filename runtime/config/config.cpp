#include "runtime/config/config.hpp"

#include <algorithm>
#include <optional>

#include "runtime/config/config_value.hpp"

namespace sluice {

namespace {

constexpr std::string_view prefix = "SLUICE_";

struct Setting {
  std::string_view name;
  std::string_view value;
};

/// The SLUICE_ settings of an environment. The first of several with one name counts, as for getenv.
std::vector<Setting> settings_of(Environment environment) {
  std::vector<Setting> settings;
  for (; environment && *environment; ++environment) {
    const std::string_view entry = *environment;
    const auto equals = entry.find('=');
    if (!entry.starts_with(prefix) || equals == std::string_view::npos) continue;
    const Setting setting{entry.substr(0, equals), entry.substr(equals + 1)};
    const auto same = [&](const Setting& other) { return other.name == setting.name; };
    if (std::none_of(settings.begin(), settings.end(), same)) settings.push_back(setting);
  }
  return settings;
}

const ConfigVariable* find_variable(std::string_view name) {
  const auto& table = config_variables();
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& variable) { return variable.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::string unknown_name(std::string_view name) {
  const auto distance = [&](const ConfigVariable& variable) { return edit_distance(name, variable.name); };
  const auto& table = config_variables();
  const auto nearest =
      std::min_element(table.begin(), table.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  std::string warning = std::string(name) + " is not known";
  // Half of what follows the prefix may be wrong before a suggestion says more about us than about the user.
  if (distance(*nearest) <= (nearest->name.size() - prefix.size()) / 2) {
    return warning + "; did you mean " + std::string(nearest->name) + "?";
  }
  return warning + "; `sluice info --config` lists what is";
}

/// The item of a list that is to blame; nothing when the value is no list.
std::optional<std::string_view> bad_item(const ConfigVariable& variable, std::string_view value) {
  if (value.find(',') == std::string_view::npos) return std::nullopt;
  while (true) {
    Config scratch;
    const auto comma = value.find(',');
    if (!variable.assign(scratch, value.substr(0, comma))) return value.substr(0, comma);
    if (comma == std::string_view::npos) return std::nullopt;
    value.remove_prefix(comma + 1);
  }
}

std::string bad_value(const ConfigVariable& variable, std::string_view value) {
  std::string error;
  error.append(variable.name).append("=").append(value).append(": ");
  if (const auto item = bad_item(variable, value)) error.append(1, '"').append(*item).append("\" is not known, ");
  return error.append("expected ").append(variable.expected);
}

}  // namespace

ParsedConfig parse_config(Environment environment) {
  ParsedConfig parsed;
  for (const auto& [name, value] : settings_of(environment)) {
    const ConfigVariable* variable = find_variable(name);
    if (!variable) {
      parsed.warnings.push_back(unknown_name(name));
    } else if (!value.empty() && !variable->assign(parsed.config, value)) {
      parsed.errors.push_back(bad_value(*variable, value));
    }
  }
  return parsed;
}

}  // namespace sluice
