#include "apps/support/job.hpp"

#include <cstdio>
#include <cstdlib>

namespace apps {

World world() {
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  return world;
}

double largest(double mine) {
  double result = 0;
  MPI_Reduce(&mine, &result, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return result;
}

double time_of_all(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  work();
  return largest(MPI_Wtime() - start);
}

int report(const CommonOptions& options, const Outcome& outcome, const std::function<std::uint64_t()>& serial) {
  std::printf("time %.6f s\n", outcome.seconds);
  std::printf("computing %.6f s\n", outcome.computing);
  if (options.check) std::printf("check %016llx\n", static_cast<unsigned long long>(outcome.results));
  if (!options.serial_check) return EXIT_SUCCESS;
  const bool equal = serial() == outcome.results;
  std::printf("serial check %s\n", equal ? "equal" : "DIFFERENT");
  return equal ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace apps
