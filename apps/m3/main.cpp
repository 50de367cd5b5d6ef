// M3, the matrix multiplication of the early-release paper (Ke, Burtscher, Speight, section 3.2): a master makes a matrix in
// every iteration and hands slices of its rows to slaves, each of which multiplies them by a transposed matrix, broadcast once,
// and returns the result. A slave can begin on the first rows while the others are still on their way.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "apps/m3/options.hpp"
#include "apps/m3/roles.hpp"
#include "apps/support/hash.hpp"

namespace {

constexpr std::uint64_t transform_seed = 0x6d33;

std::vector<double> transform(const m3::Options& options, int rank) {
  std::vector<double> transposed(options.size * options.size);
  m3::Generator source(transform_seed);
  if (rank == 0) m3::fill_random(transposed.data(), transposed.size(), source);
  MPI_Bcast(transposed.data(), static_cast<int>(transposed.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return transposed;
}

std::uint64_t serial_hash(const m3::Options& options, const std::vector<double>& transposed) {
  std::vector<double> matrix(options.rows * options.size);
  std::vector<double> product(matrix.size());
  std::uint64_t hash = apps::hash_start;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    m3::Generator source = m3::source_of(iteration);
    m3::fill_random(matrix.data(), matrix.size(), source);
    m3::multiply(matrix.data(), options.rows, transposed, options.size, product.data());
    hash = apps::mix(hash, product.data(), product.size());
  }
  return hash;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const apps::World world = apps::world();
  const m3::Options options = m3::parse_options(argc, argv, world);
  const std::vector<double> transposed = transform(options, world.rank);

  m3::Master master(options, world);
  m3::Slave slave(options, world, transposed);
  apps::Outcome outcome;
  outcome.seconds = apps::time_of_all([&] { world.rank == 0 ? master.run() : slave.run(); });
  outcome.computing = apps::largest(slave.computing()) + apps::largest(master.computing());  // one after the other
  outcome.results = master.results();

  int status = EXIT_SUCCESS;
  if (world.rank == 0) {
    const std::size_t slice = apps::part_of(options.rows, 0, world.ranks - 1).count * options.size * sizeof(double);
    std::printf("m3: %zu x %zu, %d iterations, %d ranks, slices of %zu bytes\n", options.rows, options.size, options.iterations,
                world.ranks, slice);
    status = apps::report(options, outcome, [&] { return serial_hash(options, transposed); });
  }
  MPI_Finalize();
  return status;
}
