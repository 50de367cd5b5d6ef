// The loops that reductions are made of: one for each predefined operation of MPI and each kind of element that it is defined
// for.
//
// Every kernel computes the same bits for any width of registers, any length and any alignment, so ranks on different processors
// agree. One thing is left to the processor: which of two NaNs with different payloads a sum or a product yields.
//
// What a kernel computes is what the host's functions compute (Open MPI, ompi/mca/op/base), with the lower rank as `in` and the
// upper one as `inout`:
//
//   max, min        `upper > lower ? upper : lower`, so a NaN on either side and equal zeros yield the lower rank's value
//   sum, prod       integers wrap around; a complex product is C's, with its rules for infinities
//   land, lor, lxor 1 or 0 of the element's own width; Fortran's logicals likewise, whose true is 1 in this host
//   maxloc, minloc  of equal values the lower index; where the values do not compare, the upper rank's pair
//
// MPI_MAX and MPI_MIN of MPI_UNSIGNED_LONG compare as unsigned, which the host does since 4.1.5. The host's vector loops for
// x86-64 differ from its own functions, and from one element of a vector to the next: they saturate sums of 8 and 16 bits, and of
// NaNs and zeros they yield the upper rank's. Results here never depend on an element's place.
//
// Pure functions: any thread, also in signal handlers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

enum class ReduceOperation : std::uint8_t { max, min, sum, prod, land, band, lor, bor, lxor, bxor, maxloc, minloc };
inline constexpr std::size_t reduce_operations = 12;

enum class ElementKind : std::uint8_t {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  long_double,
  float_complex,
  double_complex,
  long_double_complex,
  float_int,  // pairs of a value and an index, laid out as C does
  double_int,
  long_double_int,
  long_int,
  short_int,
  int_int,
  float_float,  // Fortran's pairs, of two values of one type
  double_double,
};
inline constexpr std::size_t element_kinds = 22;

/// Combines `n_sources` vectors of `elements` elements: 2, 4 or 8 of them, neighbours first, then pairs of neighbours, and so on.
/// The sources stand in the order of ranks. The target may be one of the sources, and overlaps none of them otherwise. No address
/// need be aligned.
using ReduceKernel = void (*)(const std::byte* const* sources, std::size_t n_sources, std::byte* target, std::size_t elements);

/// Size of an element in memory, with the padding of pairs.
std::size_t element_bytes(ElementKind kind);

/// nullptr: MPI does not define the operation for this kind.
ReduceKernel reduce_kernel(ReduceOperation operation, ElementKind kind);

}  // namespace sluice
