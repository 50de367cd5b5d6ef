#include "apps/npb/cg_grid.hpp"

#include <bit>

namespace npb {

CgGrid::CgGrid(std::size_t rows_of_matrix, apps::World world) {
  const int doublings = std::countr_zero(static_cast<unsigned>(world.ranks));
  const int rows = 1 << (doublings / 2);
  const int columns = world.ranks / rows;
  const bool square = rows == columns;
  const int row = world.rank / columns;
  const int column = world.rank % columns;

  matrix_rows_ = apps::part_of(rows_of_matrix, row, rows);
  const apps::Part whole{0, matrix_rows_.count};
  if (square) {
    matrix_columns_ = apps::part_of(rows_of_matrix, column, columns);
    complete_ = whole;
    transposed_ = column * rows + row;
  } else {
    // Two columns of the grid share what one row of it has, in halves.
    const apps::Part shared = apps::part_of(rows_of_matrix, column / 2, rows);
    const apps::Part half = apps::part_of(shared.count, column % 2, 2);
    matrix_columns_ = {shared.first + half.first, half.count};
    complete_ = apps::part_of(whole.count, column % 2, 2);
    transposed_ = (column / 2) * columns + 2 * row + column % 2;
  }
  for (int distance = 1; distance < columns; distance *= 2) {
    const bool halves = !square && distance == 1;
    const apps::Part sent = halves ? apps::part_of(whole.count, 1 - column % 2, 2) : complete_;
    steps_.push_back({row * columns + (column ^ distance), sent, complete_});
  }
}

}  // namespace npb
