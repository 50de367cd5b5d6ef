// What a call is, in one word that members compare: two that do not agree are told of, and do not wait for each other for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/types.hpp"
#include "runtime/trace/kinds.hpp"

namespace sluice {

struct Description {
  using Kind = trace::CollectiveKind;
  static constexpr std::uint16_t counted = 1;

  Kind kind{};
  std::uint16_t reduction = 0;  // operation and type of a reduction; `counted` where each pair has lengths of its own
  std::uint16_t root = 0;       // where there is one
  std::uint32_t bytes = 0;      // packed: of the part that a member publishes, or of the longest one

  [[nodiscard]] bool has_root() const {
    return kind == Kind::bcast || kind == Kind::reduce || kind == Kind::gather || kind == Kind::scatter;
  }
  [[nodiscard]] bool is_between_neighbours() const {
    return kind == Kind::neighbour_allgather || kind == Kind::neighbour_alltoall;
  }
  [[nodiscard]] bool has_blocks() const {
    return kind == Kind::gather || kind == Kind::scatter || kind == Kind::allgather || kind == Kind::alltoall ||
           is_between_neighbours();
  }
  /// Each member publishes a part of its own length.
  [[nodiscard]] bool is_counted() const { return has_blocks() && reduction == counted; }
  static constexpr std::uint64_t bytes_in_word = 0xFFFFFF;
  [[nodiscard]] std::uint64_t word() const {
    return std::uint64_t{bytes} | std::uint64_t{root} << 24 | std::uint64_t{reduction} << 40 |
           static_cast<std::uint64_t>(kind) << 56;
  }
  static Description of(std::uint64_t word) {
    return {static_cast<Kind>(word >> 56), static_cast<std::uint16_t>(word >> 40), static_cast<std::uint16_t>(word >> 24),
            static_cast<std::uint32_t>(word & bytes_in_word)};
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
