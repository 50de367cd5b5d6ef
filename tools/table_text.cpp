#include "tools/table_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

namespace {

/// Characters and not bytes: "µs" takes two columns.
std::size_t width_of(const std::string& text) {
  const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
}

std::string three_digits(double number) { return fmt::format("{:.{}f}", number, number < 10 ? 2 : (number < 100 ? 1 : 0)); }

}  // namespace

std::string show_duration(std::uint64_t ns) {
  const auto number = static_cast<double>(ns);
  if (ns < 1000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return three_digits(number / 1e3) + " µs";
  if (ns < 1'000'000'000) return three_digits(number / 1e6) + " ms";
  return three_digits(number / 1e9) + " s";
}

std::string show_size(std::uint64_t bytes) {
  constexpr std::uint64_t unit = 1024;
  if (bytes < unit) return std::to_string(bytes);
  auto number = static_cast<double>(bytes);
  const char* prefix = "KMGTP";
  for (number /= unit; number >= unit && prefix[1]; ++prefix) number /= unit;
  return three_digits(number) + " " + *prefix;
}

std::string TextTable::text(const Palette& palette) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = width_of(columns_[i].title);
    for (const Row& row : rows_) width = std::max(width, width_of(row.cells[i]));
    widths.push_back(width);
  }
  const auto line = [&](const auto& cell_of, Colour first) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string blanks(widths[i] - width_of(cell), ' ');
      const std::string painted = palette.paint(i == 0 ? first : Colour::none, cell);
      const bool is_last = i + 1 == columns_.size();
      text += "  " + (columns_[i].align == Align::right ? blanks + painted : painted + (is_last ? "" : blanks));
    }
    return text;
  };
  const auto title = [&](std::size_t i) -> const std::string& { return columns_[i].title; };
  std::string all = palette.paint(Colour::bold, line(title, Colour::none)) + "\n";
  for (const Row& row : rows_) {
    all += line([&](std::size_t i) -> const std::string& { return row.cells[i]; }, row.first) + "\n";
  }
  return all;
}

std::string heading(const Palette& palette, const std::string& title) { return "\n" + palette.paint(Colour::bold, title) + "\n"; }

}  // namespace sluice
