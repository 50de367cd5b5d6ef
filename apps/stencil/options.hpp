// The command line of stencil.
#pragma once

#include <cstddef>

#include "apps/support/job.hpp"
#include "apps/support/trials.hpp"

namespace stencil {

struct Options {
  std::size_t cells = 16;       // --cells: of a rank's block in each direction
  std::size_t variables = 512;  // --variables: of each cell
  apps::TrialOptions steps;     // --trials, --warm-up: steps in time
};

/// A mistake, or --help, is printed by rank 0; then the process ends.
Options parse_options(int argc, char** argv, apps::World world);

}  // namespace stencil
