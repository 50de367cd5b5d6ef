// Command line of m3.
#pragma once

#include <cstddef>

#include "apps/support/job.hpp"

namespace m3 {

struct Options : apps::CommonOptions {
  std::size_t size = 256;  // --size: columns of A; rows and columns of B
  std::size_t rows = 0;    // --rows: rows of A, of all slaves together; as many as columns unless given
};

/// Options of the command line. A mistake, or --help, is printed by rank 0; then the process ends.
Options parse_options(int argc, char** argv, apps::World world);

}  // namespace m3
