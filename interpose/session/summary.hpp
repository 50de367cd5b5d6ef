// The table that SLUICE_SUMMARY=1 prints at MPI_Finalize.
#pragma once

namespace sluice {

/// Collective over all ranks; rank 0 prints the sums over the job on stderr.
void print_summary();

/// The same counters, of this rank alone.
void put_counters_into_trace();

}  // namespace sluice
