// Accounting for buffered sends. Sluice copies their messages into memory of its own, but MPI promises an error when the buffer
// that the application attached is too small, so its size is what counts. Small messages go without: the host sends them
// at once and asks for no buffer, and there are programs that rely on it.
#pragma once

#include <cstddef>

#include "interpose/mpi/communicators.hpp"

namespace sluice {

/// A buffered send of `bytes` fits beside those that have not left yet. A communicator with a buffer of its own (MPI-4.1) is not
/// held to the size of that.
bool attached_buffer_has_room(const Communicator& communicator, std::size_t bytes);

}  // namespace sluice
