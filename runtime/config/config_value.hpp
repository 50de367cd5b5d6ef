// What the values of the configuration table look like, and which known name a misspelt one is nearest to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// One word that a variable accepts, and what it stands for.
template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};

template <class Value, class Choices>
bool assign_choice(Value& target, std::string_view text, const Choices& choices) {
  const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) { return choice.word == text; });
  if (found == choices.end()) return false;
  target = found->value;
  return true;
}

template <class Value, class Choices>
std::string show_choice(const Value& value, const Choices& choices) {
  const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) { return choice.value == value; });
  return found == choices.end() ? std::string() : std::string(found->word);
}

/// Decimal digits with an optional K, M or G (powers of 1024); nothing when it is anything else or does not fit.
std::optional<std::size_t> parse_bytes(std::string_view text);
/// The shortest text that parse_bytes reads back.
std::string show_bytes(std::size_t bytes);

/// Every item of a comma-separated list is one of `known`, and there is at least one.
bool is_list_of(std::string_view list, const auto& known) {
  while (true) {
    const auto comma = list.find(',');
    if (std::find(known.begin(), known.end(), list.substr(0, comma)) == known.end()) return false;
    if (comma == std::string_view::npos) return true;
    list.remove_prefix(comma + 1);
  }
}

/// Single-character insertions, deletions, replacements and swaps of neighbours that turn one into the other.
std::size_t edit_distance(std::string_view left, std::string_view right);

}  // namespace sluice
