#include "apps/m3/matrix.hpp"

#include <cstring>
#include <random>

namespace m3 {

namespace {

// Two numbers in a vector register of the oldest x86-64.
using Pair = double __attribute__((vector_size(16)));
constexpr std::size_t columns_at_once = size_multiple;

Pair pair_at(const double* values) {
  Pair pair;
  std::memcpy(&pair, values, sizeof(pair));
  return pair;
}

/// Products of one row with `columns_at_once` columns that lie behind each other.
void multiply_row(const double* row, const double* columns, std::size_t size, double* result) {
  Pair even[columns_at_once] = {};
  Pair odd[columns_at_once] = {};
  for (std::size_t at = 0; at < size; at += 4) {
    const Pair first = pair_at(row + at);
    const Pair second = pair_at(row + at + 2);
    for (std::size_t column = 0; column < columns_at_once; ++column) {
      even[column] += first * pair_at(columns + column * size + at);
      odd[column] += second * pair_at(columns + column * size + at + 2);
    }
  }
  for (std::size_t column = 0; column < columns_at_once; ++column) {
    const Pair sum = even[column] + odd[column];
    result[column] = sum[0] + sum[1];
  }
}

}  // namespace

void fill_random(double* values, std::size_t count, Generator& generator) {
  std::normal_distribution<double> normal;
  for (std::size_t index = 0; index < count; ++index) values[index] = normal(generator);
}

void multiply(const double* rows, std::size_t count, const std::vector<double>& transposed, std::size_t size, double* result) {
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t column = 0; column < size; column += columns_at_once) {
      multiply_row(rows + row * size, transposed.data() + column * size, size, result + row * size + column);
    }
  }
}

}  // namespace m3
