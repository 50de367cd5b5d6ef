// Finds the layout of a type whose construction is not understood, by packing. Both ends of a message must be carried by the same
// side, so a type must never be a reason to leave one end to the host.
#pragma once

#include <mpi.h>

#include <memory>

#include "runtime/datatype/layout.hpp"

namespace sluice {

/// Has the host pack an element whose bytes tell where they lie. `type` is committed. nullptr when the host refuses, or the
/// element is larger than MPI_Pack can tell of (2 GB).
std::shared_ptr<const Layout> layout_by_packing(MPI_Datatype type, MPI_Comm comm);

}  // namespace sluice
