// MPI_Alltoall as the rendezvous paper writes it out (RV section 4.2.2): every process exchanges with every other, and itself,
// four at a time.
#pragma once

#include <mpi.h>

#include <algorithm>

#include "apps/support/job.hpp"
#include "apps/support/requests.hpp"

namespace apps {

/// `outgoing(rank)` and `incoming(rank)` say where a rank's block of that many bytes lies. The paper shows only the case of a
/// multiple of four processes.
template <class Outgoing, class Incoming>
void exchange_with_all(Outgoing outgoing, Incoming incoming, int bytes, World world) {
  constexpr int at_a_time = 4;
  Requests requests;
  for (int first = 0; first < world.ranks; first += at_a_time) {
    for (int step = first; step < std::min(first + at_a_time, world.ranks); ++step) {
      const int target = (world.rank + step) % world.ranks;
      const int source = (world.rank - step + world.ranks) % world.ranks;
      MPI_Isend(outgoing(target), bytes, MPI_BYTE, target, 0, MPI_COMM_WORLD, requests.add());
      MPI_Irecv(incoming(source), bytes, MPI_BYTE, source, 0, MPI_COMM_WORLD, requests.add());
    }
    requests.wait();
  }
}

}  // namespace apps
