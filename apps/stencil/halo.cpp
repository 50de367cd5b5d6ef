#include "apps/stencil/halo.hpp"

#include <span>

#include "apps/support/payload.hpp"

namespace stencil {

Halo::Halo(const apps::Grid& grid, std::size_t face_values) {
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
              apps::tag_of(apps::opposite(side.face)), comm, requests_.add());
  }
  for (Side& side : sides_) {
    MPI_Isend(side.outgoing.data(), static_cast<int>(side.outgoing.size()), MPI_DOUBLE, side.neighbour, apps::tag_of(side.face),
              comm, requests_.add());
  }
  requests_.wait();
  for (const Side& side : sides_) apps::look_at(std::as_bytes(std::span(side.incoming)), look);
}

void Halo::unpack(Block& block) const {
  for (const Side& side : sides_) block.unpack(side.face, side.incoming);
}

}  // namespace stencil
