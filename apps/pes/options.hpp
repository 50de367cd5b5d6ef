// Command line of pes.
#pragma once

#include <cstddef>

#include "apps/support/job.hpp"

namespace pes {

struct Options : apps::CommonOptions {
  std::size_t rows = 1024;  // --size: rows of the field, borders included
  std::size_t columns = 0;  // --columns: as many as rows unless given; one ghost row is 8 bytes times this
  int imbalance = 0;        // --imbalance: extra work of the heavy rank, in percent of its own
  int heavy_rank = -1;      // --heavy-rank: which one; without it another rank in every iteration
};

/// Options of the command line. A mistake, or --help, is printed by rank 0; then the process ends.
Options parse_options(int argc, char** argv, apps::World world);

}  // namespace pes
