// patterns --pattern NAME: how long one scatter, gather, reduction or broadcast takes, as ordinary messages between the ranks.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "apps/patterns/pattern.hpp"

namespace {

using patterns::Options;
using patterns::Pattern;

std::unique_ptr<Pattern> make_pattern(const Options& options, apps::World world, std::size_t bytes) {
  if (options.pattern == "scatter") return patterns::scatter(world, bytes);
  if (options.pattern == "gather") return patterns::gather(world, bytes);
  if (options.pattern == "reduce") return patterns::reduce(world, bytes);
  return patterns::broadcast(world, bytes, options.segment);
}

double measure(const Options& options, apps::World world, std::size_t bytes) {
  const std::unique_ptr<Pattern> pattern = make_pattern(options, world, bytes);
  const apps::Operation operation{
      .prepare = [&](int trial) { pattern->prepare(trial); },
      .run = [&] { pattern->run(); },
      .correct = [&](int trial) { return pattern->correct(trial); },
  };
  return apps::median_of_slowest(apps::try_often(operation, options.trials, options.pattern));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const apps::World world = apps::world();
  const Options options = patterns::parse_options(argc, argv, world);
  if (world.rank == 0) std::printf("%s: %d ranks, %d trials\n", options.pattern.c_str(), world.ranks, options.trials.trials);
  for (const std::size_t bytes : options.sizes) {
    const double microseconds = measure(options, world, bytes);
    if (world.rank == 0) std::printf("%zu bytes %.2f us\n", bytes, microseconds);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
