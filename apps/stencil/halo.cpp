#include "apps/stencil/halo.hpp"

#include <span>

#include "apps/support/payload.hpp"

namespace stencil {

namespace {

/// A message is named by the face that it leaves by.
int tag_of(Face face) { return static_cast<int>(2 * face.axis) + (face.upper ? 1 : 0); }
Face opposite(Face face) { return {face.axis, !face.upper}; }

}  // namespace

Grid::Grid(int rank, int ranks) {
  MPI_Dims_create(ranks, static_cast<int>(dimensions_.size()), dimensions_.data());
  int rest = rank;
  for (std::size_t axis = dimensions_.size(); axis-- > 0; rest /= dimensions_[axis]) {
    place_[axis] = static_cast<std::size_t>(rest % dimensions_[axis]);
  }
}

int Grid::neighbour(Face face) const {
  const int there = static_cast<int>(place_[face.axis]) + (face.upper ? 1 : -1);
  if (there < 0 || there >= dimensions_[face.axis]) return MPI_PROC_NULL;
  int rank = 0;
  for (std::size_t axis = 0; axis < dimensions_.size(); ++axis) {
    rank = rank * dimensions_[axis] + (axis == face.axis ? there : static_cast<int>(place_[axis]));
  }
  return rank;
}

Halo::Halo(const Grid& grid, std::size_t face_values) {
  for (const Face face : faces) {
    if (const int neighbour = grid.neighbour(face); neighbour != MPI_PROC_NULL) {
      sides_.push_back({face, neighbour, std::vector<double>(face_values), std::vector<double>(face_values)});
    }
  }
}

void Halo::pack(const Block& block) {
  for (Side& side : sides_) block.pack(side.face, side.outgoing);
}

void Halo::exchange(MPI_Comm comm, apps::Look look) {
  for (Side& side : sides_) {
    MPI_Irecv(side.incoming.data(), static_cast<int>(side.incoming.size()), MPI_DOUBLE, side.neighbour,
              tag_of(opposite(side.face)), comm, requests_.add());
  }
  for (Side& side : sides_) {
    MPI_Isend(side.outgoing.data(), static_cast<int>(side.outgoing.size()), MPI_DOUBLE, side.neighbour, tag_of(side.face), comm,
              requests_.add());
  }
  requests_.wait();
  for (const Side& side : sides_) apps::look_at(std::as_bytes(std::span(side.incoming)), look);
}

void Halo::unpack(Block& block) const {
  for (const Side& side : sides_) block.unpack(side.face, side.incoming);
}

}  // namespace stencil
