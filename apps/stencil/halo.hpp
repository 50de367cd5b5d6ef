// The ranks as a grid of three dimensions, and the exchange of faces with the six neighbours: all receives and sends nonblocking,
// then one wait for all.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "apps/stencil/block.hpp"
#include "apps/support/payload.hpp"
#include "apps/support/requests.hpp"

namespace stencil {

class Grid {
 public:
  Grid(int rank, int ranks);

  [[nodiscard]] const std::array<int, 3>& dimensions() const { return dimensions_; }
  [[nodiscard]] Place place() const { return place_; }
  /// MPI_PROC_NULL at the end of the field.
  [[nodiscard]] int neighbour(Face face) const;

 private:
  std::array<int, 3> dimensions_{};
  Place place_{};
};

class Halo {
 public:
  Halo(const Grid& grid, std::size_t face_values);

  void pack(const Block& block);
  /// Ends when what came has been looked at.
  void exchange(MPI_Comm comm, apps::Look look);
  /// Ghost cells that no neighbour has are not touched.
  void unpack(Block& block) const;

 private:
  struct Side {
    Face face;
    int neighbour;
    std::vector<double> outgoing;
    std::vector<double> incoming;
  };
  std::vector<Side> sides_;
  apps::Requests requests_;
};

}  // namespace stencil
