// Command line of nbody.
#pragma once

#include <cstddef>

#include "apps/support/job.hpp"

namespace nbody {

struct Options : apps::CommonOptions {
  std::size_t particles = 1024;  // --particles: of all ranks
  std::size_t properties = 0;    // --properties: numbers that a particle has beside position, mass and velocity
};

/// Options of the command line. A mistake, or --help, is printed by rank 0; then the process ends.
Options parse_options(int argc, char** argv, apps::World world);

}  // namespace nbody
