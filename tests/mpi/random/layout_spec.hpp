// How the values of a message lie in memory, as scripts name it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace random_program {

enum class Base : std::uint8_t { byte, int16, int32, float64, record };  // record: int, double, 4 chars
std::size_t packed_bytes(Base base);

enum class LayoutKind : std::uint8_t {
  plain,
  contiguous,
  vector,
  hvector,
  indexed,
  indexed_block,
  hindexed,
  structure,
  subarray,
  resized,
};

struct LayoutSpec {
  LayoutKind kind = LayoutKind::plain;
  std::size_t units_per_element = 1;
  std::uint64_t seed = 0;
  bool from_bottom = false;  // MPI_BOTTOM and an absolute address in the type
};

}  // namespace random_program
