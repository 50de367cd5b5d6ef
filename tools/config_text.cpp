#include "tools/config_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace sluice {

namespace {

bool is_set(Environment environment, std::string_view name) {
  for (; environment && *environment; ++environment) {
    const std::string_view entry = *environment;
    // Set but empty counts as not set, as in parse_config.
    if (entry.size() > name.size() + 1 && entry.starts_with(name) && entry[name.size()] == '=') return true;
  }
  return false;
}

constexpr std::size_t prose_width = 100;

/// A list item in lines of at most prose_width characters.
std::string as_list_item(std::string_view text) {
  constexpr std::string_view indent = "  ";
  std::string item = "*";
  std::size_t width = item.size();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const bool fits = width + 1 + word.size() <= prose_width;
    item.append(fits ? " " : "\n").append(fits ? "" : indent).append(word);
    width = (fits ? width + 1 : indent.size()) + word.size();
    begin = end + 1;
  }
  return item + "\n";
}

/// Of a meaning. What follows it is for those who look further.
std::string_view first_sentence(std::string_view meaning) {
  const auto end = meaning.find(". ");
  return end == std::string_view::npos ? meaning : meaning.substr(0, end + 1);
}

}  // namespace

std::vector<SettingInForce> settings_in_force(Environment environment) {
  const Config config = parse_config(environment).config;
  std::vector<SettingInForce> settings;
  for (const ConfigVariable& variable : config_variables()) {
    settings.push_back({&variable, variable.show(config), is_set(environment, variable.name)});
  }
  return settings;
}

std::string as_text(const std::vector<SettingInForce>& settings) {
  std::string text;
  for (const auto& [variable, value, from_environment] : settings) {
    text += fmt::format("{} = {}  ({}; default {})\n", variable->name, value, from_environment ? "environment" : "default",
                        variable->default_value);
    text += fmt::format("    {}\n    Expected: {}.\n", variable->meaning, variable->expected);
  }
  return text;
}

nlohmann::json as_json(const std::vector<SettingInForce>& settings) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [variable, value, from_environment] : settings) {
    list.push_back({{"name", variable->name},
                    {"value", value},
                    {"default", variable->default_value},
                    {"source", from_environment ? "environment" : "default"},
                    {"expected", variable->expected},
                    {"meaning", variable->meaning}});
  }
  return list;
}

std::string table_as_markdown() {
  std::string text = "| variable | expected | default | meaning |\n|---|---|---|---|\n";
  for (const ConfigVariable& variable : config_variables()) {
    text += fmt::format("| `{}` | {} | `{}` | {} |\n", variable.name, variable.expected, variable.default_value,
                        first_sentence(variable.meaning));
  }
  text += "\n";
  for (const ConfigVariable& variable : config_variables()) {
    const std::string_view rest = variable.meaning.substr(first_sentence(variable.meaning).size());
    if (!rest.empty()) text += as_list_item(fmt::format("`{}`:{}", variable.name, rest));
  }
  return text;
}

std::string table_as_man_page() {
  std::string text;
  for (const ConfigVariable& variable : config_variables()) {
    text += fmt::format(".TP\n.B {}\n{}\nExpected: {}.\nDefault: {}.\n", variable.name, variable.meaning, variable.expected,
                        variable.default_value);
  }
  return text;
}

}  // namespace sluice
