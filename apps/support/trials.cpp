#include "apps/support/trials.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "apps/support/sides.hpp"

namespace apps {

namespace {

constexpr int trials_of_turn = 10;
constexpr int settling_trials = 3;
constexpr const char* pages = "pages";
constexpr const char* within = "within";

/// Of each trial the slowest rank, of these the median, in microseconds; known on rank 0. Collective.
double median_of_slowest(const std::vector<double>& seconds) {
  constexpr double us_per_s = 1e6;
  std::vector<double> slowest(seconds.size());
  MPI_Reduce(seconds.data(), slowest.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  const auto middle = slowest.begin() + static_cast<std::ptrdiff_t>(slowest.size() / 2);
  std::nth_element(slowest.begin(), middle, slowest.end());
  return *middle * us_per_s;
}

class Trials {
 public:
  Trials(const Operation& operation, Look look, bool times_writing, const std::string& what)
      : operation_(operation), look_(look), times_writing_(times_writing), what_(what) {}

  /// The counted ones, after `uncounted` others. Seconds on this rank.
  std::vector<double> on(MPI_Comm comm, int uncounted, int counted) {
    std::vector<double> seconds;
    for (int number = 0; number < uncounted + counted; ++number, ++trial_) {
      if (!times_writing_) operation_.prepare(trial_);
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      if (times_writing_) operation_.prepare(trial_);
      operation_.run(comm, look_);
      const double end = MPI_Wtime();
      MPI_Barrier(MPI_COMM_WORLD);
      if (!operation_.correct(trial_)) wrong_result(what_, trial_);
      if (number >= uncounted) seconds.push_back(end - start);
    }
    return seconds;
  }

 private:
  const Operation& operation_;
  Look look_;
  bool times_writing_;
  const std::string& what_;
  int trial_ = 0;
};

}  // namespace

void add_trial_options(OptionTable& table, TrialOptions& options) {
  table.number("--trials", options.trials, "how often it is done; the median counts (50)");
  table.number("--warm-up", options.warm_up, "trials before these (10)");
  table.word("--look", options.look, {"all", pages},
             "what of the received data is read: every line, or a byte of each page (all)");
  table.word("--write", options.write, {within, "before"},
             "when what is sent is written: in the time of a trial, or before it (within)");
  table.text("--alternate", options.alternate, "protocols of Sluice inside a node that take turns, separated by commas");
}

void check_trial_options(const OptionTable& table, const TrialOptions& options) {
  if (options.trials == 0) table.reject("--trials 0: there is nothing to measure");
}

void try_often(const Operation& operation, const TrialOptions& options, const std::string& what, std::size_t bytes) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Sides sides(options.alternate);
  Trials trials(operation, options.look == pages ? Look::pages : Look::all, options.write == within, what);
  const auto turn = [&](const Side& side, int uncounted, int counted) {
    const double us = median_of_slowest(trials.on(side.comm, uncounted, counted));
    if (rank == 0) std::printf("%zu bytes %s%s%.2f us\n", bytes, side.name.c_str(), side.name.empty() ? "" : " ", us);
  };
  if (!sides.alternate()) return turn(sides.all().front(), options.warm_up, options.trials);
  for (const Side& side : sides.all()) trials.on(side.comm, options.warm_up, 0);
  std::vector<Side> order = sides.all();
  for (int done = 0; done < options.trials; done += trials_of_turn) {
    const int counted = std::min(trials_of_turn, options.trials - done);
    for (const Side& side : order) turn(side, settling_trials, counted);
    std::reverse(order.begin(), order.end());
  }
}

void wrong_result(const std::string& what, int trial) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "%s: what rank %d has after trial %d is not what was sent\n", what.c_str(), rank, trial);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::abort();
}

}  // namespace apps
