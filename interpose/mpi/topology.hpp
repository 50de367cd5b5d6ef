// The neighbours that a communicator's topology gives this rank. The host knows them. It is asked once.
#pragma once

#include "interpose/mpi/communicators.hpp"
#include "runtime/collective/neighbours.hpp"

namespace sluice {

/// nullptr: the communicator has no topology. The same on all members. Belongs to the thread that is in a collective call of the
/// communicator.
const Neighbourhood* neighbours_in(Communicator& communicator);

}  // namespace sluice
