#include "apps/support/grid.hpp"

#include <mpi.h>

namespace apps {

Grid::Grid(World world) {
  MPI_Dims_create(world.ranks, static_cast<int>(dimensions_.size()), dimensions_.data());
  int rest = world.rank;
  for (std::size_t axis = dimensions_.size(); axis-- > 0; rest /= dimensions_[axis]) {
    place_[axis] = static_cast<std::size_t>(rest % dimensions_[axis]);
  }
}

int Grid::neighbour(Face face) const {
  const int there = static_cast<int>(place_[face.axis]) + (face.upper ? 1 : -1);
  return there < 0 || there >= dimensions_[face.axis] ? MPI_PROC_NULL : rank_at(face.axis, there);
}

int Grid::neighbour_around(Face face) const {
  const int here = static_cast<int>(place_[face.axis]);
  const int ranks = dimensions_[face.axis];
  return rank_at(face.axis, (here + (face.upper ? 1 : ranks - 1)) % ranks);
}

int Grid::rank_at(std::size_t axis, int there) const {
  int rank = 0;
  for (std::size_t each = 0; each < dimensions_.size(); ++each) {
    rank = rank * dimensions_[each] + (each == axis ? there : static_cast<int>(place_[each]));
  }
  return rank;
}

}  // namespace apps
