// Layouts of parts of multidimensional arrays: MPI_Type_create_subarray and MPI_Type_create_darray.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>

#include "runtime/datatype/layout.hpp"

namespace sluice {

/// `integers` in the order of MPI_Type_get_contents: dimensions, sizes, subsizes, starts, order.
std::shared_ptr<const Layout> subarray_layout(std::span<const MPI_Count> integers, std::shared_ptr<const Layout> element);

/// `integers` in the order of MPI_Type_get_contents: processes, rank, dimensions, sizes, distributions, arguments, process
/// grid, order.
std::shared_ptr<const Layout> darray_layout(std::span<const MPI_Count> integers, std::shared_ptr<const Layout> element);

}  // namespace sluice
