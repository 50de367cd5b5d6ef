// Operations that all ranks take part in, tried again and again. A trial begins when every rank is there, so that none is still
// busy with the results of the one before, and takes as long as its slowest rank. Results are checked when every rank has them:
// where ranks share processors, a check would take one from a rank that is still at it, for whole slices of time.
//
// With --alternate the sides take turns of a few trials each, in one job, so that what is compared was measured within
// milliseconds. The first trials of a turn are not counted: they find the buffers' lines where the side before left them.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "apps/support/job.hpp"
#include "apps/support/options.hpp"
#include "apps/support/payload.hpp"

namespace apps {

struct TrialOptions {
  int trials = 50;               // --trials: counted, of each side
  int warm_up = 10;              // --warm-up: trials before these, not counted
  std::string look = "all";      // --look: what of the received data is read
  std::string write = "within";  // --write: when what is sent is written
  std::string alternate;         // --alternate: protocols
};

void add_trial_options(OptionTable& table, TrialOptions& options);
/// Rejects what cannot be measured.
void check_trial_options(const OptionTable& table, const TrialOptions& options);

struct Operation {
  std::function<void(int)> prepare;         // writes what is sent in this trial; timed with --write within
  std::function<void(MPI_Comm, Look)> run;  // what is timed; it includes this look at whatever is received
  std::function<bool(int)> correct;         // whether every bit of it is as it must be
};

/// Prints the median of the slowest ranks' times, in microseconds, as "BYTES bytes TIME us"; with --alternate that of each turn,
/// as "BYTES bytes PROTOCOL TIME us". Ends the job, naming `what`, when a result is wrong. Collective.
void try_often(const Operation& operation, const TrialOptions& options, const std::string& what, std::size_t bytes);

/// Ends the job.
[[noreturn]] void wrong_result(const std::string& what, int trial);

}  // namespace apps
