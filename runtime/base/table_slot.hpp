// Where tables of 256 slots, each for what came to it last, keep what they know of a buffer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

inline constexpr std::size_t table_slots = 256;

/// By the high bits of a product: buffers that begin at multiples of a large number differ in no low ones. `owner` tells apart
/// buffers of several processes at one address.
[[nodiscard]] inline std::size_t slot_in_table(std::uint64_t address, std::uint64_t owner = 0) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  constexpr unsigned line_bits = 6;
  constexpr unsigned slot_bits = 8;
  static_assert(table_slots == std::size_t{1} << slot_bits);
  return (((address >> line_bits) + owner) * golden) >> (64 - slot_bits);
}

}  // namespace sluice
