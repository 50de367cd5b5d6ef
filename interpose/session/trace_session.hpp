// The trace of a job: its files are begun together, their clocks compared, and ended together.
#pragma once

#include <mpi.h>

#include <vector>

#include "runtime/config/config.hpp"
#include "runtime/trace/kinds.hpp"

namespace sluice {

/// Collective over the ranks of `world`, a communicator of Sluice's own, also where SLUICE_TRACE is not set. A rank that cannot
/// write its file goes on without; the lowest of those says so.
void begin_trace(const Config& config, MPI_Comm world);

/// What carries the messages to each rank, and what the job was configured with.
void describe_job_in_trace(const std::vector<trace::Transporter>& transporters);

/// Collective, before the end of the engine: compares the clocks again, and notes the counters.
void conclude_trace(MPI_Comm world);

}  // namespace sluice
