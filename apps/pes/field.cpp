#include "apps/pes/field.hpp"

#include <utility>

#include "apps/support/hash.hpp"

namespace pes {

namespace {

/// h^2 f of the Poisson equation: a weak source everywhere.
constexpr double source = 1e-5;

double between(double first, double last, std::size_t position, std::size_t count) {
  return first + (last - first) * (static_cast<double>(position) / static_cast<double>(count - 1));
}

}  // namespace

Field::Field(Shape shape, std::size_t first_row, std::size_t own_rows)
    : shape_(shape),
      first_row_(first_row),
      own_rows_(own_rows),
      current_((own_rows + 2) * shape.columns),
      next_((own_rows + 2) * shape.columns) {
  set_borders(current_);
  set_borders(next_);
}

void Field::set_borders(std::vector<double>& values) const {
  const std::size_t last_column = shape_.columns - 1;
  for (std::size_t index = 0; index < own_rows_ + 2; ++index) {
    const std::size_t field_row = first_row_ - 1 + index;
    double* const row = values.data() + index * shape_.columns;
    row[0] = between(1.0, 0.0, field_row, shape_.rows);
    row[last_column] = between(0.0, 1.0, field_row, shape_.rows);
    if (field_row != 0 && field_row != shape_.rows - 1) continue;
    for (std::size_t column = 1; column < last_column; ++column) {
      row[column] = between(row[0], row[last_column], column, shape_.columns);
    }
  }
}

void Field::update(std::size_t index) {
  const double* const above = row(index - 1);
  const double* const here = row(index);
  const double* const below = row(index + 1);
  double* const result = next_row(index);
  for (std::size_t column = 1; column + 1 < shape_.columns; ++column) {
    result[column] = 0.25 * (above[column] + below[column] + here[column - 1] + here[column + 1] + source);
  }
}

void Field::sweep() {
  for (std::size_t index = 1; index <= own_rows_; ++index) update(index);
}

void Field::advance() { std::swap(current_, next_); }

std::vector<std::uint64_t> Field::row_hashes() const {
  std::vector<std::uint64_t> hashes;
  for (std::size_t index = 1; index <= own_rows_; ++index) {
    hashes.push_back(apps::mix(apps::hash_start, row(index), shape_.columns));
  }
  return hashes;
}

std::uint64_t combine(const std::vector<std::uint64_t>& row_hashes) {
  std::uint64_t hash = apps::hash_start;
  for (const std::uint64_t row : row_hashes) hash = apps::mix(hash, row);
  return hash;
}

}  // namespace pes
