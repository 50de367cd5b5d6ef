#include "apps/support/trials.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace apps {

void add_trial_options(OptionTable& table, TrialOptions& options) {
  table.number("--trials", options.trials, "how often it is done; the median counts (50)");
  table.number("--warm-up", options.warm_up, "trials before these (10)");
}

void check_trial_options(const OptionTable& table, const TrialOptions& options) {
  if (options.trials == 0) table.reject("--trials 0: there is nothing to measure");
}

std::vector<double> try_often(const Operation& operation, const TrialOptions& options, const std::string& what) {
  std::vector<double> seconds;
  for (int trial = 0; trial < options.warm_up + options.trials; ++trial) {
    operation.prepare(trial);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    operation.run();
    const double end = MPI_Wtime();
    if (!operation.correct(trial)) wrong_result(what, trial);
    if (trial >= options.warm_up) seconds.push_back(end - start);
  }
  return seconds;
}

double median_of_slowest(const std::vector<double>& seconds) {
  constexpr double us_per_s = 1e6;
  std::vector<double> slowest(seconds.size());
  MPI_Reduce(seconds.data(), slowest.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  const auto middle = slowest.begin() + static_cast<std::ptrdiff_t>(slowest.size() / 2);
  std::nth_element(slowest.begin(), middle, slowest.end());
  return *middle * us_per_s;
}

void wrong_result(const std::string& what, int trial) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "%s: what rank %d has after trial %d is not what was sent\n", what.c_str(), rank, trial);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::abort();
}

}  // namespace apps
