// The round trips of small messages, as a table: what half, most and all of them took, and how many took how long.
#pragma once

#include <vector>

namespace beside {

/// Prints to standard output, in microseconds: a line for each share (`median`, `p90`, `p99`, `p999`, `longest`), and
/// `took LOWER UPPER COUNT` for each power of two between which any round trip lay. Seconds.
void print_round_trips(std::vector<double> seconds);

}  // namespace beside
