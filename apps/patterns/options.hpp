// The command line of patterns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/patterns/problem.hpp"
#include "apps/support/job.hpp"
#include "apps/support/trials.hpp"

namespace patterns {

struct Options {
  std::string pattern;             // --pattern
  std::vector<std::size_t> sizes;  // --bytes: in turn; pattern.hpp says of what. Of graph, comd and ghost that of the problem
  std::size_t segment = 262144;    // --segment: what broadcast sends on at a time
  Problem problem;
  apps::TrialOptions trials;
};

/// A mistake, or --help, is printed by rank 0; then the process ends.
Options parse_options(int argc, char** argv, apps::World world);

}  // namespace patterns
