#include "apps/npb/cg_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

namespace npb {

namespace {

constexpr double least_weight = 0.1;
constexpr double own_place = 0.5;  // of each vector at the row that it belongs to

struct Element {
  std::uint32_t row;
  std::uint32_t column;
  double value;
};
using SparseVector = std::vector<std::pair<std::size_t, double>>;

double fraction(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

SparseVector random_vector(std::mt19937_64& random, const CgClass& size, std::size_t row) {
  SparseVector vector{{row, own_place}};
  while (vector.size() <= size.nonzeros) {
    const std::size_t place = random() % size.rows;
    const double value = fraction(random);
    const bool is_new = std::none_of(vector.begin(), vector.end(), [&](const auto& other) { return other.first == place; });
    if (is_new) vector.emplace_back(place, value);
  }
  return vector;
}

bool is_in(apps::Part part, std::size_t place) { return place >= part.first && place - part.first < part.count; }

/// In the order in which they are to be added up, the same for any block.
std::vector<Element> elements_of(const CgClass& size, apps::Part rows, apps::Part columns) {
  std::vector<Element> elements;
  const auto add = [&](std::size_t row, std::size_t column, double value) {
    if (!is_in(rows, row) || !is_in(columns, column)) return;
    elements.push_back({static_cast<std::uint32_t>(row - rows.first), static_cast<std::uint32_t>(column - columns.first), value});
  };
  std::mt19937_64 random(size.rows);
  for (std::size_t number = 0; number < size.rows; ++number) {
    const double weight = std::pow(least_weight, static_cast<double>(number) / static_cast<double>(size.rows));
    const SparseVector vector = random_vector(random, size, number);
    for (const auto& [row, first] : vector) {
      for (const auto& [column, second] : vector) add(row, column, weight * first * second);
    }
    add(number, number, least_weight - size.shift);
  }
  const auto place = [](const Element& element) { return std::tie(element.row, element.column); };
  std::stable_sort(elements.begin(), elements.end(), [&](const Element& a, const Element& b) { return place(a) < place(b); });
  return elements;
}

}  // namespace

CgMatrix::CgMatrix(const CgClass& size, apps::Part rows, apps::Part columns) {
  const Element* last = nullptr;
  const std::vector<Element> elements = elements_of(size, rows, columns);
  for (const Element& element : elements) {
    if (last && last->row == element.row && last->column == element.column) {
      values_.back() += element.value;
    } else {
      row_begins_.resize(element.row + 1, values_.size());
      columns_.push_back(element.column);
      values_.push_back(element.value);
    }
    last = &element;
  }
  row_begins_.resize(rows.count + 1, values_.size());
}

void CgMatrix::multiply(std::span<const double> vector, std::span<double> product) const {
  for (std::size_t row = 0; row + 1 < row_begins_.size(); ++row) {
    double sum = 0;
    for (std::size_t at = row_begins_[row]; at < row_begins_[row + 1]; ++at) sum += values_[at] * vector[columns_[at]];
    product[row] = sum;
  }
}

}  // namespace npb
