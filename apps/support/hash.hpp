// FNV-1a by 64-bit words, for results that must be equal bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace apps {

constexpr std::uint64_t hash_start = 0xcbf29ce484222325U;

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) { return (hash ^ word) * 0x100000001b3U; }

inline std::uint64_t mix(std::uint64_t hash, const double* values, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, values + index, sizeof(bits));
    hash = mix(hash, bits);
  }
  return hash;
}

}  // namespace apps
