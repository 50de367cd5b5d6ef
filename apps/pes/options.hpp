// Command line of pes.
#pragma once

#include <cstddef>

namespace pes {

struct Options {
  std::size_t rows = 1024;    // --size: rows of the field, borders included
  std::size_t columns = 0;    // --columns: as many as rows unless given; one ghost row is 8 bytes times this
  int iterations = 100;       // --iterations
  int imbalance = 0;          // --imbalance: extra work of the heavy rank, in percent of its own
  int heavy_rank = -1;        // --heavy-rank: which one; without it another rank in every iteration
  bool check = false;         // --check: print a hash of the final field
  bool serial_check = false;  // --serial-check: compare with the same solver on one process
};

/// Options of the command line. A mistake, or --help, is printed by rank 0; then the process ends.
Options parse_options(int argc, char** argv, int rank, int ranks);

}  // namespace pes
