// PES, the iterative solver of the 2-D Poisson equation of the early-release paper (Ke, Burtscher, Speight, section 3.2):
// every process has a band of rows, updates them, and exchanges its first and last row with its neighbours. The row from
// below is needed only at the end of the next sweep, which is what an early release can make use of.
//
// The sends of an exchange are finished after the next sweep, when the rows that they read are about to be overwritten.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "apps/pes/exchange.hpp"
#include "apps/pes/field.hpp"
#include "apps/pes/options.hpp"

namespace {

using pes::Field;
using pes::Options;

struct World {
  int rank = 0;
  int ranks = 1;
};

struct Band {
  std::size_t first_row;
  std::size_t rows;
};

/// Inner rows are dealt out evenly; the first ranks get one more where they don't divide.
Band band_of(const Options& options, int rank, int ranks) {
  const std::size_t inner = options.rows - 2;
  const auto parts = static_cast<std::size_t>(ranks);
  const auto part = static_cast<std::size_t>(rank);
  const std::size_t larger = inner % parts;
  return {1 + part * (inner / parts) + (part < larger ? part : larger), inner / parts + (part < larger ? 1 : 0)};
}

Field make_field(const Options& options, World world) {
  const Band band = band_of(options, world.rank, world.ranks);
  return Field({options.rows, options.columns}, band.first_row, band.rows);
}

/// Rows that this rank computes once more in this iteration.
std::size_t extra_rows(const Options& options, World world, const Field& field, int iteration) {
  const int heavy = options.heavy_rank >= 0 ? options.heavy_rank : iteration % world.ranks;
  return world.rank == heavy ? field.own_rows() * static_cast<std::size_t>(options.imbalance) / 100 : 0;
}

void solve(Field& field, const Options& options, World world) {
  pes::GhostExchange ghosts(world.rank, world.ranks);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    field.sweep();
    field.repeat(extra_rows(options, world, field, iteration));
    ghosts.finish_sends();
    field.advance();
    ghosts.exchange(field);
  }
  ghosts.finish_sends();
}

/// Time of the slowest rank, on rank 0.
double timed_solve(Field& field, const Options& options, World world) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  solve(field, options, world);
  const double mine = MPI_Wtime() - start;
  double slowest = 0;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest;
}

/// Hash of the whole field, on rank 0.
std::uint64_t hash_of(const Field& field, const Options& options, World world) {
  const std::vector<std::uint64_t> mine = field.row_hashes();
  std::vector<std::uint64_t> all(options.rows - 2);
  std::vector<int> counts;
  std::vector<int> places;
  for (int rank = 0; rank < world.ranks; ++rank) {
    const Band band = band_of(options, rank, world.ranks);
    counts.push_back(static_cast<int>(band.rows));
    places.push_back(static_cast<int>(band.first_row - 1));
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

/// What rank 0 prints; the exit status.
int report(const Options& options, World world, double seconds, std::uint64_t hash) {
  std::printf("pes: %zu x %zu, %d iterations, %d ranks, ghost rows of %zu bytes\n", options.rows, options.columns,
              options.iterations, world.ranks, options.columns * sizeof(double));
  std::printf("time %.6f s\n", seconds);
  if (options.check) std::printf("check %016llx\n", static_cast<unsigned long long>(hash));
  if (!options.serial_check) return EXIT_SUCCESS;
  const bool equal = serial_hash(options) == hash;
  std::printf("serial check %s\n", equal ? "equal" : "DIFFERENT");
  return equal ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  const Options options = pes::parse_options(argc, argv, world.rank, world.ranks);

  Field field = make_field(options, world);
  const double seconds = timed_solve(field, options, world);
  const std::uint64_t hash = hash_of(field, options, world);
  const int status = world.rank == 0 ? report(options, world, seconds, hash) : EXIT_SUCCESS;
  MPI_Finalize();
  return status;
}
