// What the programs of the early-release paper share: who is who, the clock, and the lines that rank 0 prints.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>

#include "apps/support/options.hpp"

namespace apps {

struct World {
  int rank = 0;
  int ranks = 1;
};

/// MPI must be initialised.
World world();

/// Adds up the time spent in computing. Early release moves waiting into it, so it says something of the host alone.
class Stopwatch {
 public:
  template <class Work>
  void time(Work work) {
    const double start = MPI_Wtime();
    work();
    seconds_ += MPI_Wtime() - start;
  }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  double seconds_ = 0;
};

/// Seconds from a barrier to the end of `work` on the slowest rank; known on rank 0. Collective.
double time_of_all(const std::function<void()>& work);

struct Outcome {
  double seconds = 0;         // of the slowest rank
  double computing = 0;       // of the rank that computed longest
  std::uint64_t results = 0;  // hash
};

/// Prints "time", "computing", and what --check and --serial-check ask for. `serial` computes the hash on one process.
/// The exit status. For rank 0.
int report(const CommonOptions& options, const Outcome& outcome, const std::function<std::uint64_t()>& serial);

/// The largest value of any rank, on rank 0. Collective.
double largest(double mine);

}  // namespace apps
