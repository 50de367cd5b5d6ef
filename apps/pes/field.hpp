// A band of rows of the 2-D field, and the Jacobi sweep over it. Knows nothing of MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pes {

/// Size of the whole field, borders included. The borders are fixed: 1 in the corners (first, first) and (last, last),
/// 0 in the other two, and linear in between.
struct Shape {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

/// Inner rows first_row .. first_row + own_rows - 1 of the field, with one row above and one below them, each of which is
/// either a border of the field or a ghost row: a copy of the neighbour's.
class Field {
 public:
  Field(Shape shape, std::size_t first_row, std::size_t own_rows);

  [[nodiscard]] std::size_t own_rows() const { return own_rows_; }
  [[nodiscard]] std::size_t columns() const { return shape_.columns; }

  /// Row of the current field: 0 is the row above, 1 .. own_rows() the own ones, own_rows() + 1 the row below.
  [[nodiscard]] double* row(std::size_t index) { return current_.data() + index * shape_.columns; }
  [[nodiscard]] const double* row(std::size_t index) const { return current_.data() + index * shape_.columns; }

  /// The same of the next field.
  [[nodiscard]] double* next_row(std::size_t index) { return next_.data() + index * shape_.columns; }

  /// Computes one own row of the next field from the current one.
  void update(std::size_t index);
  /// All of them, from the first row to the last.
  void sweep();
  /// The next field becomes the current one.
  void advance();

  /// One hash for each own row.
  [[nodiscard]] std::vector<std::uint64_t> row_hashes() const;

 private:
  void set_borders(std::vector<double>& values) const;

  Shape shape_;
  std::size_t first_row_;
  std::size_t own_rows_;
  std::vector<double> current_;
  std::vector<double> next_;
};

/// Hash of a field from the hashes of all its rows, in order.
std::uint64_t combine(const std::vector<std::uint64_t>& row_hashes);

}  // namespace pes
