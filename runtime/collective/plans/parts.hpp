// The words in which plans are written: regions, messages, and equal cuts between elements.
#pragma once

#include <algorithm>
#include <cstddef>

#include "runtime/collective/schedule.hpp"

namespace sluice::plans {

inline Rank rank(std::size_t number) { return Rank{static_cast<std::int32_t>(number)}; }

inline Region operand(std::size_t bytes, std::size_t begin = 0, std::size_t block = 0) {
  return {Region::Area::operand, static_cast<std::uint32_t>(block), begin, bytes};
}
inline Region result(std::size_t bytes, std::size_t begin = 0, std::size_t block = 0) {
  return {Region::Area::result, static_cast<std::uint32_t>(block), begin, bytes};
}
inline Region scratch(std::size_t bytes, std::size_t begin) { return {Region::Area::scratch, 0, begin, bytes}; }

/// Of no bytes: on both sides alike, so nothing is sent.
inline void send(Round& round, std::size_t peer, const Region& region) {
  if (region.bytes != 0) round.sends.push_back({rank(peer), region});
}
inline void receive(Round& round, std::size_t peer, const Region& region) {
  if (region.bytes != 0) round.receives.push_back({rank(peer), region});
}
inline void copy(Round& round, const Region& source, const Region& target) {
  if (target.bytes != 0) round.local.push_back({{source}, target});
}
inline void combine(Round& round, const Region& lower, const Region& upper, const Region& target) {
  if (target.bytes != 0) round.local.push_back({{lower, upper}, target});
}

/// Bytes [begin, begin + bytes) of something.
struct Part {
  std::size_t begin = 0;
  std::size_t bytes = 0;

  /// One of so many parts, which differ by an element at most.
  [[nodiscard]] Part cut(std::size_t parts, std::size_t index, std::size_t element_bytes = 1) const {
    const std::size_t elements = bytes / element_bytes;
    const auto first = [&](std::size_t i) { return (elements / parts * i + std::min(i, elements % parts)) * element_bytes; };
    return {begin + first(index), first(index + 1) - first(index)};
  }
};

/// Pieces of scratch memory begin where loops like it.
inline std::size_t padded(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  return (bytes + alignment - 1) / alignment * alignment;
}

inline std::size_t pieces_of(std::size_t bytes, std::size_t piece_bytes) {
  return piece_bytes == 0 || bytes == 0 ? 1 : (bytes - 1) / piece_bytes + 1;
}

/// So many segments that filling `stages` stages, one after the other, costs little against the whole. Each more costs its start.
inline std::size_t most_segments(std::size_t stages) { return std::max<std::size_t>(1, 8 * stages); }

inline std::size_t segments_of(std::size_t bytes, std::size_t segment_bytes, std::size_t stages) {
  return std::min(pieces_of(bytes, segment_bytes), most_segments(stages));
}

/// Without rounds in which nothing happens.
inline Schedule finished(Schedule schedule) {
  std::erase_if(schedule.rounds,
                [](const Round& round) { return round.receives.empty() && round.sends.empty() && round.local.empty(); });
  return schedule;
}

}  // namespace sluice::plans
