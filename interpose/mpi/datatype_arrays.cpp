// Both constructors work from the dimension whose neighbours are adjacent in memory outwards: what one dimension selects
// of the elements is the element of the next.
#include "interpose/mpi/datatype_arrays.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sluice {
namespace {

using Part = std::shared_ptr<const Layout>;

/// Indices of the dimensions, the one with adjacent elements first.
std::vector<std::size_t> inner_to_outer(std::size_t dimensions, MPI_Count order) {
  std::vector<std::size_t> indices(dimensions);
  for (std::size_t i = 0; i < dimensions; ++i) indices[i] = order == MPI_ORDER_FORTRAN ? i : dimensions - 1 - i;
  return indices;
}

/// One dimension of a distributed array, as this process sees it.
struct Dimension {
  std::ptrdiff_t size;
  MPI_Count distribution;
  std::ptrdiff_t argument;
  std::ptrdiff_t processes;
  std::ptrdiff_t position;
};

/// Blocks of `block` elements dealt out in turn (MPI-3.1, 4.1.4, "cyclic"); the last one may be shorter.
void add_cyclic(LayoutBuilder& builder, const Part& element, const Dimension& dimension, std::ptrdiff_t block) {
  const std::ptrdiff_t extent = element->extent();
  const std::ptrdiff_t first = dimension.position * block;
  const std::ptrdiff_t round = dimension.processes * block;
  const std::ptrdiff_t whole = first + block > dimension.size ? 0 : (dimension.size - block - first) / round + 1;
  const std::ptrdiff_t last = first + whole * round;
  LayoutBuilder whole_block;
  whole_block.add(element, 0, extent, static_cast<std::size_t>(block));
  builder.add(whole_block.finish(block * extent), first * extent, round * extent, static_cast<std::size_t>(whole));
  const std::ptrdiff_t rest = std::clamp<std::ptrdiff_t>(dimension.size - last, 0, block);
  builder.add(element, last * extent, extent, static_cast<std::size_t>(rest));
}

Part select(const Part& element, const Dimension& dimension) {
  const std::ptrdiff_t extent = element->extent();
  const bool is_default = dimension.argument == MPI_DISTRIBUTE_DFLT_DARG;
  LayoutBuilder builder;
  if (dimension.distribution == MPI_DISTRIBUTE_CYCLIC) {
    add_cyclic(builder, element, dimension, is_default ? 1 : dimension.argument);
  } else if (dimension.distribution == MPI_DISTRIBUTE_BLOCK) {
    const std::ptrdiff_t share = (dimension.size + dimension.processes - 1) / dimension.processes;
    const std::ptrdiff_t block = is_default ? share : dimension.argument;
    const std::ptrdiff_t first = dimension.position * block;
    const std::ptrdiff_t count = std::clamp<std::ptrdiff_t>(dimension.size - first, 0, block);
    builder.add(element, first * extent, extent, static_cast<std::size_t>(count));
  } else {
    builder.add(element, 0, extent, static_cast<std::size_t>(dimension.size));
  }
  return builder.finish(dimension.size * extent);
}

}  // namespace

Part subarray_layout(std::span<const MPI_Count> integers, Part element) {
  const auto dimensions = static_cast<std::size_t>(integers[0]);
  const auto sizes = integers.subspan(1, dimensions);
  const auto subsizes = integers.subspan(1 + dimensions, dimensions);
  const auto starts = integers.subspan(1 + 2 * dimensions, dimensions);
  for (const std::size_t i : inner_to_outer(dimensions, integers[1 + 3 * dimensions])) {
    const std::ptrdiff_t extent = element->extent();
    LayoutBuilder builder;
    builder.add(element, starts[i] * extent, extent, static_cast<std::size_t>(subsizes[i]));
    element = builder.finish(sizes[i] * extent);
  }
  return element;
}

Part darray_layout(std::span<const MPI_Count> integers, Part element) {
  std::ptrdiff_t processes = integers[0];
  std::ptrdiff_t rank = integers[1];
  const auto dimensions = static_cast<std::size_t>(integers[2]);
  const auto list = [&](std::size_t index) { return integers.subspan(3 + index * dimensions, dimensions); };
  const auto sizes = list(0), distributions = list(1), arguments = list(2), grid = list(3);
  std::vector<std::ptrdiff_t> positions(dimensions);  // the process grid is always in C order
  for (std::size_t i = 0; i < dimensions; ++i) {
    processes /= grid[i];
    positions[i] = rank / processes;
    rank %= processes;
  }
  for (const std::size_t i : inner_to_outer(dimensions, integers[3 + 4 * dimensions])) {
    element = select(element, {sizes[i], distributions[i], arguments[i], grid[i], positions[i]});
  }
  return element;
}

}  // namespace sluice
