// What a call is, in one word that members compare: two that do not agree are told of, and do not wait for each other for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/types.hpp"

namespace sluice {

struct Description {
  enum class Kind : std::uint8_t { none, barrier, bcast, reduce, allreduce };

  Kind kind{};
  std::uint16_t reduction = 0;  // operation and type of a reduction
  std::uint16_t root = 0;       // where there is one
  std::uint32_t bytes = 0;      // packed, of each member

  [[nodiscard]] std::uint64_t word() const {
    return std::uint64_t{bytes} | std::uint64_t{root} << 24 | std::uint64_t{reduction} << 40 |
           static_cast<std::uint64_t>(kind) << 56;
  }
  static Description of(std::uint64_t word) {
    return {static_cast<Kind>(word >> 56), static_cast<std::uint16_t>(word >> 40), static_cast<std::uint16_t>(word >> 24),
            static_cast<std::uint32_t>(word & 0xFFFFFF)};
  }
  /// "MPI_Bcast of 8 bytes, root 3"
  [[nodiscard]] std::string text() const;
};

/// A member that is in another call than this one.
struct Mismatch {
  Rank rank{};
  Description own;
  Description other;

  [[nodiscard]] bool differs_in_bytes_only() const {
    return own.kind == other.kind && own.root == other.root && own.reduction == other.reduction;
  }
};

}  // namespace sluice
