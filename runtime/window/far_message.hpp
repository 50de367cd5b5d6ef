// What members of a window that is on several nodes tell each other, in messages of a context that the program does not know.
//
//   tag            what
//   tag_in_order   origin to target: operations, and what is done once those before it are done
//   tag_at_once    between any two: what waits for nothing that came before
//   of a serial    data of one operation that its message does not bring: what the origin gives, and what it gets
//
// A message of tag_in_order may have several parts, each for itself. A part is this header, then the layout of the target's
// memory (datatype/layout_wire.hpp) if that has gaps, then the data that it brings, all filled up to multiples of `alignment`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/base/types.hpp"

namespace sluice {

struct alignas(16) FarMessage {
  enum class Kind : std::uint8_t {
    // in order
    put,
    get,
    accumulate,        // with or without a result
    compare_and_swap,  // brings what is compared, then the new value
    flush,             // to be answered
    unlock,            // to be answered, and the origin's lock is given up
    arrive,            // the origin is in a fence
    complete,          // the origin has ended its access (MPI_Win_complete)
    // at once
    answer,  // to a flush or an unlock: what the origin had asked for before is done
    insist,  // the origin's wait for a shared lock has lasted
    post,    // of an exposure, to an origin
  };
  /// What the origin has to hold before this is done.
  enum class Lock : std::uint8_t { none, shared, exclusive };

  Kind kind{};
  Lock lock{};
  bool data_follows = false;    // under the serial number
  bool wants_result = false;    // accumulate
  bool is_refused = false;      // answer: something was not where the target exposes memory
  bool packs_pairs = false;     // accumulate: pairs without their padding
  std::uint16_t operation = 0;  // accumulate: FarOperation
  std::uint32_t serial = 0;
  std::uint32_t layout_bytes = 0;  // 0: the target's memory has no gaps
  std::uint64_t data_bytes = 0;    // brought
  std::uint64_t number = 0;        // flush, unlock, answer: which one
  std::uint64_t address = 0;       // target's memory: where, ...
  std::uint64_t count = 0;         // ... and how many elements of the layout, or bytes
  std::uint64_t bytes = 0;         // of the target's memory

  static constexpr std::size_t alignment = 16;
  static constexpr std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
  /// Of the whole part.
  [[nodiscard]] std::size_t part_bytes() const { return sizeof(FarMessage) + aligned(layout_bytes) + aligned(data_bytes); }

  static constexpr Tag tag_in_order{0};
  static constexpr Tag tag_at_once{1};
  [[nodiscard]] Tag given_tag() const { return Tag{static_cast<std::int32_t>(2 + 2 * (serial & serial_mask))}; }
  [[nodiscard]] Tag gotten_tag() const { return Tag{static_cast<std::int32_t>(3 + 2 * (serial & serial_mask))}; }

 private:
  static constexpr std::uint32_t serial_mask = (1U << 29) - 1;
};
static_assert(sizeof(FarMessage) % FarMessage::alignment == 0 && std::is_trivially_copyable_v<FarMessage>);

}  // namespace sluice
