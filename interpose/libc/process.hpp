// The end of the process, however it comes about.
#pragma once

namespace sluice {

/// A process that ends without MPI_Finalize must not do so ahead of a message that it would still be waiting for (rule 1).
void settle_before_the_end();

}  // namespace sluice
