// When the session ends: inside the host's MPI_Finalize, after the last callback of the program.
//
// MPI_Finalize begins with the delete callbacks of the attributes of MPI_COMM_SELF (MPI-3.1 8.7.1). In them the program may
// use MPI as ever: complete receives, take messages that were sent before, free communicators. They are called in the reverse
// order of setting. Sluice sets an attribute of its own before MPI_Init returns, so its callback comes last, and MPI is whole.
#pragma once

namespace sluice {

/// Throws when the host refuses it.
void close_session_after_callbacks();

}  // namespace sluice
