// Of which predefined type the elements of a datatype are.
#pragma once

#include <mpi.h>

#include "interpose/mpi/datatypes.hpp"

namespace sluice {

/// nullptr: of several, or its construction is not understood. The type itself, if that is predefined. [any thread]
MPI_Datatype element_type(MPI_Datatype type);

/// Of a predefined pair of a value and an index that has padding: the same with all its bytes. nullptr for any other type.
/// [any thread]
const FlatType* whole_pair(MPI_Datatype type);

}  // namespace sluice
