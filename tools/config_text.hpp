// The configuration table in the formats in which people and programs read it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runtime/config/config.hpp"

namespace sluice {

/// A variable as it stands in one environment.
struct SettingInForce {
  const ConfigVariable* variable;
  std::string value;
  bool from_environment;
};

std::vector<SettingInForce> settings_in_force(Environment environment);

std::string as_text(const std::vector<SettingInForce>& settings);
nlohmann::json as_json(const std::vector<SettingInForce>& settings);
/// Without values: the table alone, for docs/configuration.md and the manual page.
std::string table_as_markdown();
std::string table_as_man_page();

}  // namespace sluice
