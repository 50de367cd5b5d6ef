// N-Body of the early-release paper (Ke, Burtscher, Speight, section 3.2): particles under pair-wise forces, evenly distributed.
// In every time step each process sends its particles to all others, and needs those of the others one after the other.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "apps/nbody/options.hpp"
#include "apps/nbody/simulation.hpp"
#include "apps/support/hash.hpp"

namespace {

/// Of what all ranks have, on rank 0. It depends on the number of ranks, as sums are formed in another order.
std::uint64_t hash_of_all(std::uint64_t mine, apps::World world) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(world.ranks));
  MPI_Gather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  std::uint64_t hash = apps::hash_start;
  for (const std::uint64_t one : all) hash = apps::mix(hash, one);
  return hash;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const apps::World world = apps::world();
  const nbody::Options options = nbody::parse_options(argc, argv, world);

  nbody::Simulation simulation(options, world);
  apps::Outcome outcome;
  outcome.seconds = apps::time_of_all([&] { simulation.run(); });
  outcome.computing = apps::largest(simulation.computing());
  outcome.results = hash_of_all(simulation.hash(), world);

  int status = EXIT_SUCCESS;
  if (world.rank == 0) {
    const std::size_t each = options.particles / static_cast<std::size_t>(world.ranks);
    std::printf("nbody: %zu particles, %d steps, %d ranks, messages of %zu bytes\n", options.particles, options.iterations,
                world.ranks, each * nbody::stride_of(options.properties) * sizeof(double));
    status = apps::report(options, outcome, [&] { return nbody::serial_hash(options, world.ranks); });
  }
  MPI_Finalize();
  return status;
}
