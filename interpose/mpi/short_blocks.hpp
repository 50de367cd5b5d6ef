// MPI_Gather, MPI_Scatter, MPI_Allgather, MPI_Allgatherv and MPI_Alltoall of short blocks: through lanes.
//
// All members know how long the blocks of such a call are, and decide alike: by communicator, kind, root and packed bytes. A rank
// whose own block has two lengths takes part, and is told MPI_ERR_TRUNCATE. Arguments that are not significant on this rank are
// never read.
//
// Each answers what is to be made, or nothing: then the call goes by messages, or is the host's (block_call.hpp).
#pragma once

#include <optional>

#include "interpose/mpi/block_call.hpp"
#include "runtime/lane_steps.hpp"

namespace sluice {

/// `each`: one of the blocks that lie behind each other, in the order of ranks.
std::optional<ShortCall<GatherStep>> short_gather(CallSite site, const OneBlock& own, const OneBlock& each, int root,
                                                  MPI_Comm comm);
std::optional<ShortCall<ScatterStep>> short_scatter(CallSite site, const OneBlock& each, const OneBlock& own, int root,
                                                    MPI_Comm comm);
std::optional<ShortCall<AllgatherStep>> short_allgather(CallSite site, const OneBlock& own, const OneBlock& each, MPI_Comm comm);
/// `theirs`: one for each rank, or what is no valid block.
std::optional<ShortCall<AllgathervStep>> short_allgatherv(CallSite site, const OneBlock& own, const Blocks& theirs,
                                                          MPI_Comm comm);
std::optional<ShortCall<AlltoallStep>> short_alltoall(CallSite site, const OneBlock& sent, const OneBlock& received,
                                                      MPI_Comm comm);

}  // namespace sluice
