// One variable of a rank's block, with a layer of ghost cells around it, and the stencils of MiniGhost: a value becomes the mean
// of itself and its neighbours, in the plane of the first two axes or in space. Beyond the whole field there is 0.
//
// A cell's new value is computed in one order wherever the blocks end, so that it is the same to the bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/support/grid.hpp"

namespace patterns {

struct Extent {
  apps::Place first;  // cell of the whole field
  apps::Place cells;
  apps::Place whole;
};

enum class Stencil : std::uint8_t { plane_5, plane_9, space_7, space_27 };

/// It looks at cells beyond edges and corners, so that faces must bring these, one axis after the other.
constexpr bool has_diagonals(Stencil stencil) { return stencil == Stencil::plane_9 || stencil == Stencil::space_27; }

class GhostField {
 public:
  GhostField(const Extent& extent, std::size_t variable);

  /// With the ghost cells of the axes before, or of none.
  [[nodiscard]] std::size_t face_values(apps::Face face, bool with_edges) const;
  /// The layer at the face; the next free place.
  double* pack(apps::Face face, bool with_edges, double* values) const;
  /// The ghost cells beyond it; what follows.
  const double* unpack(apps::Face face, bool with_edges, const double* values);

  void step(Stencil stencil);

  /// Whole numbers in proportion to the values: their sums are exact in any order.
  [[nodiscard]] double sum() const;
  /// Sums of hashes of blocks are the hash of the whole field.
  [[nodiscard]] std::uint64_t hash() const;

 private:
  [[nodiscard]] std::size_t index(const apps::Place& place) const;
  /// Calls `visit(index)` for each cell of a layer of the face, in one order for all blocks.
  template <class Visit>
  void for_each_of_face(apps::Face face, bool with_edges, std::size_t layer, Visit visit) const;
  /// Calls `visit(index, number of the cell in the whole field)`.
  template <class Visit>
  void for_each_cell(Visit visit) const;

  Extent extent_;
  apps::Place edges_;  // cells and ghosts in each direction
  std::uint64_t variable_;
  std::vector<double> now_;
  std::vector<double> next_;
};

}  // namespace patterns
