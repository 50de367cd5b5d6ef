// A record as the eight words that it is in the file, composed and checked in registers.
//
// A record that was filled in member by member and is then read by wider words must wait until its stores have left the
// processor's store buffer, which took longer than everything else about it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/trace/format.hpp"

namespace sluice::trace {

inline constexpr std::size_t time_word = offsetof(Record, time_ns) / sizeof(std::uint64_t);
inline constexpr std::size_t duration_word = offsetof(Record, duration_ns) / sizeof(std::uint64_t);

/// With 0 in place of the check word.
[[gnu::always_inline]] inline RecordWords words_of(const Record& record) {
  static_assert(offsetof(Record, kind) == 4 && offsetof(Record, detail) == 6 && offsetof(Record, bytes) == 24 &&
                offsetof(Record, value) == 32 && offsetof(Record, operation) == 40 && offsetof(Record, peer) == 48 &&
                offsetof(Record, context) == 56);
  const auto pair = [](auto low, auto high) {
    return std::uint64_t{static_cast<std::uint32_t>(low)} | std::uint64_t{static_cast<std::uint32_t>(high)} << 32;
  };
  return {std::uint64_t{record.kind} << 32 | std::uint64_t{record.detail} << 48,
          record.time_ns,
          record.duration_ns,
          record.bytes,
          record.value,
          pair(record.operation, record.site),
          pair(record.peer, record.tag),
          pair(record.context, record.extra)};
}

}  // namespace sluice::trace
