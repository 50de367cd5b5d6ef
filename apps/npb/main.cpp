// npb: kernels with the communication of three of the NAS Parallel Benchmarks that RV runs (section 4.2.3). It prints the time of
// the program, and the time in calls that wait, of the rank with most of it: what the paper calls rendezvous protocol wait time,
// but that eager messages are waited for as well.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "apps/npb/cg.hpp"
#include "apps/npb/ft.hpp"
#include "apps/npb/kernel.hpp"
#include "apps/npb/lu.hpp"
#include "apps/npb/options.hpp"

namespace {

std::unique_ptr<npb::Kernel> make_kernel(const npb::Options& options, apps::World world) {
  if (options.kernel == "cg") return std::make_unique<npb::Cg>(npb::cg_class(options), world);
  if (options.kernel == "ft") return std::make_unique<npb::Ft>(npb::ft_class(options), options.by_pairs(), world);
  return std::make_unique<npb::Lu>(npb::lu_class(options), world);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const apps::World world = apps::world();
  const npb::Options options = npb::parse_options(argc, argv, world);
  const std::unique_ptr<npb::Kernel> kernel = make_kernel(options, world);

  apps::Outcome outcome;
  apps::Stopwatch running;
  outcome.seconds = apps::time_of_all([&] { running.time([&] { kernel->run(); }); });
  outcome.computing = apps::largest(running.seconds() - kernel->waiting());
  const double waiting = apps::largest(kernel->waiting());
  outcome.results = kernel->results();
  const npb::Kernel::Verdict verdict = kernel->verdict();

  int status = EXIT_SUCCESS;
  if (world.rank == 0) {
    std::printf("npb: %s, class %s, %d ranks\n%s\nwaiting %.6f s\n", options.kernel.c_str(), options.size.c_str(), world.ranks,
                verdict.text.c_str(), waiting);
    status = apps::report(options, outcome, [&] { return kernel->equals_serial() ? outcome.results : ~outcome.results; });
    if (!verdict.right) {
      std::fprintf(stderr, "npb: %s is wrong: %s\n", options.kernel.c_str(), verdict.text.c_str());
      status = EXIT_FAILURE;
    }
  }
  MPI_Finalize();
  return status;
}
