// The exchange of faces with the six neighbours: all receives and sends nonblocking, then one wait for all.
#pragma once

#include <mpi.h>

#include <vector>

#include "apps/stencil/block.hpp"
#include "apps/support/grid.hpp"
#include "apps/support/payload.hpp"
#include "apps/support/requests.hpp"

namespace stencil {

class Halo {
 public:
  Halo(const apps::Grid& grid, std::size_t face_values);

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
