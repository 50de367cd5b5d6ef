// The command line of beside.
#pragma once

#include <cstddef>

#include "apps/support/job.hpp"

namespace beside {

struct Options {
  std::size_t bytes = 4194304;  // --bytes: of a long message; 0: none, for comparison
  int messages = 8;             // --messages: long ones of each round, to or from each partner
  int rounds = 40;              // --rounds
  int pings = 200;              // --pings: small ones of each round without long messages
  int pause_us = 20;            // --pause: between two of them
  bool outward = false;         // --outward: the hub sends the long messages
};

/// A mistake, or --help, is printed by rank 0; then the process ends.
Options parse_options(int argc, char** argv, apps::World world);

}  // namespace beside
