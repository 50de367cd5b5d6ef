// Numbers as they travel: little-endian, at fixed offsets in a record, whatever the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace sluice::wire {

/// The compiler makes one store of it where the machine is little-endian.
template <std::size_t offset, class Number, std::size_t bytes>
constexpr void put(std::span<std::byte, bytes> record, Number number) {
  static_assert(offset + sizeof(Number) <= bytes);
  auto rest = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<Number>>(number));
  for (std::size_t i = 0; i < sizeof(Number); ++i, rest >>= 8) record[offset + i] = static_cast<std::byte>(rest & 0xff);
}

template <std::size_t offset, class Number, std::size_t bytes>
[[nodiscard]] constexpr Number get(std::span<const std::byte, bytes> record) {
  static_assert(offset + sizeof(Number) <= bytes);
  std::uint64_t number = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;) number = number << 8 | static_cast<std::uint64_t>(record[offset + i]);
  return static_cast<Number>(number);
}

}  // namespace sluice::wire
