// The ranks as a grid of three dimensions, and the faces of their blocks.
#pragma once

#include <array>
#include <cstddef>

#include "apps/support/job.hpp"

namespace apps {

using Place = std::array<std::size_t, 3>;

/// A face of a block: perpendicular to `axis`, at its lower or upper end.
struct Face {
  std::size_t axis = 0;
  bool upper = false;
};

inline constexpr std::array<Face, 6> faces{Face{0, false}, Face{0, true},  Face{1, false},
                                           Face{1, true},  Face{2, false}, Face{2, true}};

constexpr Face opposite(Face face) { return {face.axis, !face.upper}; }
/// A message is named by the face that it leaves by.
constexpr int tag_of(Face face) { return static_cast<int>(2 * face.axis) + (face.upper ? 1 : 0); }

class Grid {
 public:
  /// As MPI_Dims_create has it.
  explicit Grid(World world);

  [[nodiscard]] const std::array<int, 3>& dimensions() const { return dimensions_; }
  [[nodiscard]] Place place() const { return place_; }
  /// MPI_PROC_NULL at the end of the grid.
  [[nodiscard]] int neighbour(Face face) const;
  /// Where the grid has no end: what lies beyond its last rank is its first one.
  [[nodiscard]] int neighbour_around(Face face) const;

 private:
  /// Of the rank `there` on this axis, and where this one is on the others.
  [[nodiscard]] int rank_at(std::size_t axis, int there) const;

  std::array<int, 3> dimensions_{};
  Place place_{};
};

}  // namespace apps
