// Exchange of ghost rows with the ranks above and below, by nonblocking sends and blocking receives.
#pragma once

#include <mpi.h>

#include <array>

#include "apps/pes/field.hpp"

namespace pes {

class GhostExchange {
 public:
  /// Ranks lie in the order of their rows.
  GhostExchange(int rank, int ranks);

  /// Sends the first and last own row, receives the row above, then the row below. The sends may go on afterwards.
  void exchange(Field& field);
  /// The rows that were sent last may be written again.
  void finish_sends();

 private:
  int above_;
  int below_;
  std::array<MPI_Request, 2> sends_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace pes
