#include "runtime/config/config_value.hpp"

#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace sluice {

namespace {

struct Suffix {
  char letter;
  std::size_t factor;
};
constexpr std::array<Suffix, 3> suffixes{{{'G', std::size_t{1} << 30}, {'M', std::size_t{1} << 20}, {'K', std::size_t{1} << 10}}};

/// 1 for a number that ends in a digit, 0 for a letter that is no suffix. Small letters count as well.
std::size_t factor_of(char last) {
  if (last >= '0' && last <= '9') return 1;
  const char letter = last >= 'a' && last <= 'z' ? static_cast<char>(last - 'a' + 'A') : last;
  const auto* found = std::find_if(suffixes.begin(), suffixes.end(), [&](const Suffix& s) { return s.letter == letter; });
  return found == suffixes.end() ? 0 : found->factor;
}

}  // namespace

std::optional<std::size_t> parse_bytes(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::size_t factor = factor_of(text.back());
  if (factor == 0) return std::nullopt;
  if (factor > 1) text.remove_suffix(1);

  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end || text.empty()) return std::nullopt;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(number, factor, &bytes)) return std::nullopt;
  return bytes;
}

std::string show_bytes(std::size_t bytes) {
  for (const Suffix& suffix : suffixes) {
    if (bytes != 0 && bytes % suffix.factor == 0) return std::to_string(bytes / suffix.factor) + suffix.letter;
  }
  return std::to_string(bytes);
}

std::size_t edit_distance(std::string_view left, std::string_view right) {
  // Optimal string alignment by rows: `row[j]` is the distance between the first i letters of left and the first j of right.
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last;
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[right.size()];
}

}  // namespace sluice
