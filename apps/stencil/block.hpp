// A rank's block of the field, with a layer of ghost cells around it, and the explicit step of the heat equation in seven points:
// a value changes by an eighth of its difference to each of its six neighbours.
//
// The field starts as a polynomial of second degree, for which this step has an exact solution, in doubles as well (all values
// are multiples of 1/2, far below 2^50): what any cell must hold at any time is known to the bit without computing step by step.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "apps/support/grid.hpp"

namespace stencil {

using apps::Face;
using apps::faces;
using apps::Place;

class Block {
 public:
  /// `origin`: where the first cell of the block lies in the whole field.
  Block(std::size_t cells, std::size_t variables, Place origin);

  [[nodiscard]] std::size_t face_values() const { return cells_ * cells_ * variables_; }

  /// The outermost layer of cells of the block, as neighbours need it.
  void pack(Face face, std::span<double> values) const;
  /// The ghost cells beyond it.
  void unpack(Face face, std::span<const double> values);
  /// The same, at the end of the field.
  void set_boundary(Face face);

  void step();

  /// Whether all ghost cells held what they had to, to the bit, when the last step was made.
  [[nodiscard]] bool ghosts_were_correct() const;
  /// Whether all cells of the block hold what they must.
  [[nodiscard]] bool correct() const;

 private:
  /// Values of the first variable of the cell; 0 and `cells_ + 1` are ghosts.
  [[nodiscard]] std::size_t index(Place place) const;
  /// Calls `visit(place, number of its first value in the face)` for each cell of a layer of the face.
  template <class Visit>
  void for_each_cell(Face face, std::size_t layer, Visit visit) const;
  [[nodiscard]] std::size_t ghost_layer(Face face) const { return face.upper ? cells_ + 1 : 0; }
  /// What a cell must hold: something common to all variables, and something in proportion to the variable's coefficient.
  struct Exact {
    double common;
    double share;
  };
  [[nodiscard]] Exact exact(Place place, int time) const;
  void write_exact(Place place);
  [[nodiscard]] bool is_exact(const std::vector<double>& field, Place place, int time) const;

  std::size_t cells_;
  std::size_t variables_;
  Place origin_;
  std::size_t edge_;  // cells and ghosts in each direction
  int time_ = 0;
  std::vector<double> coefficients_;  // of the variables
  std::vector<double> now_;
  std::vector<double> other_;  // the field before the last step, and where the next one goes
};

}  // namespace stencil
