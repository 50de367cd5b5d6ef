// The ranks of lu: a grid over the first two axes of the cube. Every rank has whole columns of the third.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>

#include "apps/support/job.hpp"
#include "apps/support/parts.hpp"

namespace npb {

/// A neighbour's direction.
enum class Side : std::size_t { north, south, west, east };
inline constexpr std::array<Side, 4> sides{Side::north, Side::south, Side::west, Side::east};
[[nodiscard]] constexpr Side opposite(Side side) { return static_cast<Side>(static_cast<std::size_t>(side) ^ 1U); }

class LuGrid {
 public:
  LuGrid(std::size_t edge, apps::World world);
  /// Every rank has as many columns in each direction as the operator reaches.
  [[nodiscard]] static bool suits(std::size_t edge, int ranks);

  [[nodiscard]] apps::Part rows() const { return rows_; }        // from north to south
  [[nodiscard]] apps::Part columns() const { return columns_; }  // from west to east
  /// MPI_PROC_NULL at the end of the cube.
  [[nodiscard]] int neighbour(Side side) const { return neighbours_[static_cast<std::size_t>(side)]; }

 private:
  apps::Part rows_{};
  apps::Part columns_{};
  std::array<int, 4> neighbours_{};
};

}  // namespace npb
