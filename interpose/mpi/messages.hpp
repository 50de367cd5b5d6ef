// MPI_Message handles of matched probes. They are addresses inside a reserved range of their own, so one comparison tells
// them from the host's; Fortran's integers for them start above any index that the host gives out.
//
// Threading: any thread.
#pragma once

#include <mpi.h>

#include "interpose/mpi/communicators.hpp"
#include "runtime/engine.hpp"

namespace sluice {

struct MatchedProbe {
  Unexpected* message = nullptr;
  Communicator* communicator = nullptr;
  MatchedProbe* next_unused = nullptr;
};

/// Null when too many messages wait to be received (a million).
MPI_Message handle_for_message(Unexpected* message, Communicator& communicator);
/// nullptr for the host's messages.
MatchedProbe* find_message(MPI_Message handle);
/// The handle is free for reuse; returns what it stood for.
MatchedProbe take_message(MatchedProbe& slot);

}  // namespace sluice
