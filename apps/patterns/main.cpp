// patterns --pattern NAME: how long one scatter, gather, reduction, broadcast, exchange or echo takes, as ordinary messages
// between the ranks; or one search of a graph, or some steps of a metal or of fields.
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
  if (options.pattern == "exchange") return patterns::exchange(world, bytes);
  if (options.pattern == "echo") return patterns::echo(world, bytes);
  if (options.pattern == "graph") return patterns::graph(world, options.problem);
  if (options.pattern == "comd") return patterns::comd(world, options.problem);
  if (options.pattern == "ghost") return patterns::ghost(world, options.problem);
  return patterns::broadcast(world, bytes, options.segment);
}

void measure(const Options& options, apps::World world, std::size_t bytes) {
  const std::unique_ptr<Pattern> pattern = make_pattern(options, world, bytes);
  const apps::Operation operation{
      .prepare = [&](int trial) { pattern->prepare(trial); },
      .run = [&](MPI_Comm comm, apps::Look look) { pattern->run(comm, look); },
      .correct = [&](int trial) { return pattern->correct(trial); },
  };
  apps::try_often(operation, options.trials, options.pattern, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const apps::World world = apps::world();
  const Options options = patterns::parse_options(argc, argv, world);
  if (world.rank == 0) std::printf("%s: %d ranks, %d trials\n", options.pattern.c_str(), world.ranks, options.trials.trials);
  for (const std::size_t bytes : options.sizes) measure(options, world, bytes);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
