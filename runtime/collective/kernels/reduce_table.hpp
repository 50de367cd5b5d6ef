// The kernels by width of registers. One source, reduce_loops.hpp, is compiled once for each width, so that its compiler makes
// the loops wide; meson.build has the flags.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "runtime/collective/reduce_kernel.hpp"

#if defined(__x86_64__)
#define SLUICE_WIDE_REDUCTIONS 1
#endif

namespace sluice {

/// A null pointer: not defined, or no better than the narrow one.
struct ReduceTable {
  ReduceKernel kernels[reduce_operations][element_kinds];

  [[nodiscard]] constexpr ReduceKernel at(ReduceOperation operation, ElementKind kind) const {
    return kernels[static_cast<std::size_t>(operation)][static_cast<std::size_t>(kind)];
  }
};

extern const ReduceTable reduce_table_baseline;
#ifdef SLUICE_WIDE_REDUCTIONS
extern const ReduceTable reduce_table_avx2;
extern const ReduceTable reduce_table_avx512;
#endif

struct ReduceWidth {
  const char* name;
  const ReduceTable* table;
};

/// What this processor runs, the narrowest first.
std::span<const ReduceWidth> reduce_widths();

}  // namespace sluice
