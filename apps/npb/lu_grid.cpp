#include "apps/npb/lu_grid.hpp"

#include "apps/npb/lu_block.hpp"

namespace npb {

namespace {

/// Rows and columns of the grid.
std::array<int, 2> shape_of(int ranks) {
  std::array<int, 2> shape{};
  MPI_Dims_create(ranks, static_cast<int>(shape.size()), shape.data());
  return shape;
}

}  // namespace

LuGrid::LuGrid(std::size_t edge, apps::World world) {
  const auto [rows, columns] = shape_of(world.ranks);
  const int row = world.rank / columns;
  const int column = world.rank % columns;
  rows_ = apps::part_of(edge, row, rows);
  columns_ = apps::part_of(edge, column, columns);
  neighbours_ = {row > 0 ? world.rank - columns : MPI_PROC_NULL, row + 1 < rows ? world.rank + columns : MPI_PROC_NULL,
                 column > 0 ? world.rank - 1 : MPI_PROC_NULL, column + 1 < columns ? world.rank + 1 : MPI_PROC_NULL};
}

bool LuGrid::suits(std::size_t edge, int ranks) {
  const auto [rows, columns] = shape_of(ranks);
  return edge / static_cast<std::size_t>(rows) >= LuBlock::reach && edge / static_cast<std::size_t>(columns) >= LuBlock::reach;
}

}  // namespace npb
