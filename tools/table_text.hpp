// Tables and quantities as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/terminal.hpp"

namespace sluice {

/// "840 ns", "12.3 µs", "4.56 ms", "1.23 s"
[[nodiscard]] std::string show_duration(std::uint64_t ns);
/// "840", "12.3 K", "4.56 M": bytes in powers of 1024
[[nodiscard]] std::string show_size(std::uint64_t bytes);

/// The title of what follows, after an empty line.
[[nodiscard]] std::string heading(const Palette& palette, const std::string& title);

/// Columns as wide as what stands in them.
class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::right;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One text for each column. `first`: the colour of that in the first column.
  void add(std::vector<std::string> row, Colour first = Colour::none) { rows_.push_back({std::move(row), first}); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// With a line of titles, every line indented by two blanks.
  [[nodiscard]] std::string text(const Palette& palette) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Colour first;
  };

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace sluice
