// PES, the iterative solver of the 2-D Poisson equation of the early-release paper (Ke, Burtscher, Speight, section 3.2):
// every process has a band of rows, updates them, and exchanges its first and last row with its neighbours. The row from
// below is needed only at the end of the next sweep, which is what an early release can make use of.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "apps/pes/field.hpp"
#include "apps/pes/options.hpp"
#include "apps/pes/solve.hpp"
#include "apps/support/parts.hpp"

namespace {

using apps::World;
using pes::Field;
using pes::Options;

/// Inner rows of the field.
apps::Part band_of(const Options& options, int rank, int ranks) {
  apps::Part band = apps::part_of(options.rows - 2, rank, ranks);
  ++band.first;
  return band;
}

Field make_field(const Options& options, World world) {
  const apps::Part band = band_of(options, world.rank, world.ranks);
  return Field({options.rows, options.columns}, band.first, band.count);
}

/// Hash of the whole field, on rank 0.
std::uint64_t hash_of(const Field& field, const Options& options, World world) {
  const std::vector<std::uint64_t> mine = field.row_hashes();
  std::vector<std::uint64_t> all(options.rows - 2);
  std::vector<int> counts;
  std::vector<int> places;
  for (int rank = 0; rank < world.ranks; ++rank) {
    const apps::Part band = band_of(options, rank, world.ranks);
    counts.push_back(static_cast<int>(band.count));
    places.push_back(static_cast<int>(band.first - 1));
  }
  MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_UINT64_T, all.data(), counts.data(), places.data(), MPI_UINT64_T, 0,
              MPI_COMM_WORLD);
  return pes::combine(all);
}

std::uint64_t serial_hash(const Options& options) {
  Field field = make_field(options, {0, 1});
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    field.sweep();
    field.advance();
  }
  return pes::combine(field.row_hashes());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const World world = apps::world();
  const Options options = pes::parse_options(argc, argv, world);

  Field field = make_field(options, world);
  pes::Solver solver(field, options, world);
  apps::Outcome outcome;
  outcome.seconds = apps::time_of_all([&] { solver.solve(); });
  outcome.computing = apps::largest(solver.computing());
  outcome.results = hash_of(field, options, world);

  int status = EXIT_SUCCESS;
  if (world.rank == 0) {
    std::printf("pes: %zu x %zu, %d iterations, %d ranks, ghost rows of %zu bytes\n", options.rows, options.columns,
                options.iterations, world.ranks, options.columns * sizeof(double));
    status = apps::report(options, outcome, [&] { return serial_hash(options); });
  }
  MPI_Finalize();
  return status;
}
