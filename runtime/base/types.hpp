// Vocabulary of the engine: processes, ranks, tags, contexts and ranges, each a type of its own so that
// no two of them can be swapped by mistake.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// Index of a process in the job (its rank in MPI_COMM_WORLD). Endpoints are per peer.
enum class Peer : std::int32_t {};

/// Rank of a process inside one communicator.
enum class Rank : std::int32_t {};

enum class Tag : std::int32_t {};

/// Names one communicator on every process of the job. Zero is never assigned; below context_limit.
enum class ContextId : std::uint64_t {};

/// What a message has room for (net/frame.hpp).
inline constexpr std::uint64_t context_limit = std::uint64_t{1} << 40;
/// The collective calls of a communicator have a context of their own. Those of communicators are below half of the limit.
[[nodiscard]] constexpr ContextId channel_id(ContextId communicator) {
  return ContextId{static_cast<std::uint64_t>(communicator) + context_limit / 2};
}
inline constexpr std::size_t max_ranks = std::size_t{1} << 24;

inline constexpr Rank any_source{-1};
inline constexpr Tag any_tag{-1};

/// What somebody does with memory.
enum class Access : std::uint8_t { read, write };

inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t cache_line = 64;

/// A half-open range of addresses, in bytes.
struct ByteRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  static ByteRange of(const void* start, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    return {address, address + bytes};
  }
  [[nodiscard]] std::size_t size() const { return end - begin; }
  [[nodiscard]] bool empty() const { return begin >= end; }
  [[nodiscard]] bool overlaps(ByteRange other) const { return begin < other.end && other.begin < end; }
  [[nodiscard]] bool contains(std::uintptr_t address) const { return address >= begin && address < end; }
  [[nodiscard]] bool contains(ByteRange other) const { return other.begin >= begin && other.end <= end; }
};

/// Of an operation whose memory it is. Operations are numbered as they begin, and until one ends its program may not unmap that.
struct OperationTime {
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  std::uint64_t begun = none;  // its number
  std::uint64_t latest = 0;    // the number of the last one that has begun
};

/// A half-open range of page numbers (address / page_bytes).
struct PageRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  /// All pages that `bytes` touches.
  static PageRange covering(ByteRange bytes) {
    if (bytes.empty()) return {};
    return {bytes.begin / page_bytes, (bytes.end + page_bytes - 1) / page_bytes};
  }
  [[nodiscard]] std::size_t size() const { return end - begin; }
  [[nodiscard]] bool empty() const { return begin >= end; }
  [[nodiscard]] bool overlaps(PageRange other) const { return begin < other.end && other.begin < end; }
  [[nodiscard]] ByteRange bytes() const { return {begin * page_bytes, end * page_bytes}; }
};

/// Addresses are 48-bit user addresses; pages of the host are the 4 KB that the guard assumes (checked at start).
static_assert(sizeof(std::uintptr_t) == 8);

}  // namespace sluice
