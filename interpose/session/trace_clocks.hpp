// How the clocks of a job's ranks differ, for its trace.
#pragma once

#include <mpi.h>

#include "runtime/trace/trace.hpp"

namespace sluice {

/// Collective over `world`. Every rank's clock against rank 0's, by messages of the host's on that communicator, into its trace,
/// if it writes one. Ranks that share rank 0's kernel and time namespace have its clock; of others with a common clock the first
/// exchanges messages with rank 0, as often as it takes, and tells the rest.
void compare_clocks(trace::Moment moment, MPI_Comm world);

}  // namespace sluice
