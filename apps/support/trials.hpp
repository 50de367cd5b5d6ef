// Operations that all ranks take part in, tried again and again. A trial begins when every rank is there, so that none is still
// busy with the results of the one before, and takes as long as its slowest rank.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/support/job.hpp"
#include "apps/support/options.hpp"

namespace apps {

struct TrialOptions {
  int trials = 50;   // --trials
  int warm_up = 10;  // --warm-up: trials before these, not counted
};

void add_trial_options(OptionTable& table, TrialOptions& options);
/// Rejects what cannot be measured.
void check_trial_options(const OptionTable& table, const TrialOptions& options);

struct Operation {
  std::function<void(int)> prepare;  // writes what is sent in this trial
  std::function<void()> run;         // what is timed; it includes a look at whatever is received
  std::function<bool(int)> correct;  // whether every bit of it is as it must be
};

/// Seconds of each counted trial on this rank. Ends the job, naming `what`, when a result is wrong. Collective.
std::vector<double> try_often(const Operation& operation, const TrialOptions& options, const std::string& what);

/// Of each trial the slowest rank, of these the median, in microseconds; known on rank 0. Collective.
double median_of_slowest(const std::vector<double>& seconds);

/// Ends the job.
[[noreturn]] void wrong_result(const std::string& what, int trial);

}  // namespace apps
