#include "apps/stencil/block.hpp"

#include <algorithm>
#include <array>

namespace stencil {

namespace {

constexpr double eighth = 0.125;
constexpr std::array<double, 3> curvatures{1, 2, 3};
constexpr double growth = 2 * (1 + 2 + 3) * eighth;         // of the polynomial in one step
constexpr std::array<double, 3> slopes{1, 4096, 16777216};  // tell cells apart
constexpr std::size_t different_coefficients = 97;

}  // namespace

std::size_t Block::index(Place place) const { return ((place[0] * edge_ + place[1]) * edge_ + place[2]) * variables_; }

template <class Visit>
void Block::for_each_cell(Face face, std::size_t layer, Visit visit) const {
  const std::size_t first = face.axis == 0 ? 1 : 0;
  const std::size_t second = face.axis == 2 ? 1 : 2;
  std::size_t number = 0;
  for (std::size_t row = 1; row <= cells_; ++row) {
    for (std::size_t column = 1; column <= cells_; ++column, number += variables_) {
      Place place{};
      place[face.axis] = layer;
      place[first] = row;
      place[second] = column;
      visit(place, number);
    }
  }
}

Block::Block(std::size_t cells, std::size_t variables, Place origin)
    : cells_(cells),
      variables_(variables),
      origin_(origin),
      edge_(cells + 2),
      coefficients_(variables),
      now_(edge_ * edge_ * edge_ * variables),
      other_(now_.size()) {
  for (std::size_t variable = 0; variable < variables_; ++variable) {
    coefficients_[variable] = static_cast<double>(variable % different_coefficients + 1);
  }
  for (std::size_t layer = 1; layer <= cells_; ++layer) {
    for_each_cell(faces[0], layer, [&](Place place, std::size_t) { write_exact(place); });
  }
}

void Block::pack(Face face, std::span<double> values) const {
  for_each_cell(face, face.upper ? cells_ : 1,
                [&](Place place, std::size_t number) { std::copy_n(&now_[index(place)], variables_, &values[number]); });
}

void Block::unpack(Face face, std::span<const double> values) {
  for_each_cell(face, ghost_layer(face),
                [&](Place place, std::size_t number) { std::copy_n(&values[number], variables_, &now_[index(place)]); });
}

void Block::set_boundary(Face face) {
  for_each_cell(face, ghost_layer(face), [&](Place place, std::size_t) { write_exact(place); });
}

void Block::step() {
  const std::size_t row = edge_ * variables_;
  const std::size_t plane = edge_ * row;
  const std::size_t values = cells_ * variables_;
  for (std::size_t x = 1; x <= cells_; ++x) {
    for (std::size_t y = 1; y <= cells_; ++y) {
      const double* from = &now_[index({x, y, 1})];
      double* to = &other_[index({x, y, 1})];
      for (std::size_t at = 0; at < values; ++at) {
        const double* value = from + at;
        const double around = (*(value - plane) + *(value + plane)) + (*(value - row) + *(value + row)) +
                              (*(value - variables_) + *(value + variables_));
        to[at] = *value + eighth * (around - 6 * *value);
      }
    }
  }
  now_.swap(other_);
  ++time_;
}

Block::Exact Block::exact(Place place, int time) const {
  Exact exact{0, growth * time};
  for (std::size_t axis = 0; axis < place.size(); ++axis) {
    const auto position = static_cast<double>(origin_[axis] + place[axis]);
    exact.common += slopes[axis] * position;
    exact.share += curvatures[axis] * position * position;
  }
  return exact;
}

void Block::write_exact(Place place) {
  const Exact must_be = exact(place, time_);
  double* values = &now_[index(place)];
  for (std::size_t variable = 0; variable < variables_; ++variable) {
    values[variable] = must_be.common + coefficients_[variable] * must_be.share;
  }
}

bool Block::is_exact(const std::vector<double>& field, Place place, int time) const {
  const Exact must_be = exact(place, time);
  const double* values = &field[index(place)];
  bool right = true;
  for (std::size_t variable = 0; variable < variables_; ++variable) {
    right &= values[variable] == must_be.common + coefficients_[variable] * must_be.share;
  }
  return right;
}

bool Block::ghosts_were_correct() const {
  bool right = true;
  for (const Face face : faces) {
    for_each_cell(face, ghost_layer(face), [&](Place place, std::size_t) { right &= is_exact(other_, place, time_ - 1); });
  }
  return right;
}

bool Block::correct() const {
  bool right = true;
  for (std::size_t layer = 1; layer <= cells_; ++layer) {
    for_each_cell(faces[0], layer, [&](Place place, std::size_t) { right &= is_exact(now_, place, time_); });
  }
  return right;
}

}  // namespace stencil
