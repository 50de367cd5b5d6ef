// Layouts of parts of multidimensional arrays: MPI_Type_create_subarray and MPI_Type_create_darray.
#pragma once

#include <memory>
#include <span>

#include "runtime/layout.hpp"

namespace sluice {

/// `integers` as MPI_Type_get_contents returns them: dimensions, sizes, subsizes, starts, order.
std::shared_ptr<const Layout> subarray_layout(std::span<const int> integers, std::shared_ptr<const Layout> element);

/// `integers` as MPI_Type_get_contents returns them: processes, rank, dimensions, sizes, distributions, arguments, process
/// grid, order.
std::shared_ptr<const Layout> darray_layout(std::span<const int> integers, std::shared_ptr<const Layout> element);

}  // namespace sluice
