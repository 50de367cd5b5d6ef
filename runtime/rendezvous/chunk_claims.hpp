// Which chunks of a message the sender copies and which the receiver does, when both copy at once (COOP-p2p, CO section II-A1).
// The paper splits in halves; here either side claims one chunk after the other from its end of the message, the sender from the
// front and the receiver from the back, so that a side that is late or slow copies less.
//
// The claims are one word in the receiver's memory: how many chunks are taken from the front and from the back, and a generation.
// The receiver closes the word before it gives the place to another transfer; that changes the generation, so that a sender that
// comes late claims nothing. Who was left without a chunk owes no message and is waited for by nobody.
//
// Writer and reader: both processes, by compare-and-swap, any thread. Acquire and release, although the word guards no data: that
// chunks are in place is told by the progress word and by FIN messages.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice {

class ChunkClaims {
 public:
  static constexpr std::uint32_t max_chunks = 0xffff;

  /// The word at one moment.
  struct View {
    std::uint32_t generation = 0;
    std::uint32_t front = 0;
    std::uint32_t back = 0;
  };
  struct Result {
    bool claimed = false;
    View view;  // with the claim in it
  };

  explicit ChunkClaims(std::atomic<std::uint64_t>& word) : word_(word) {}

  [[nodiscard]] View view() const { return decode(word_.load(std::memory_order_acquire)); }

  /// The next chunk of `total` from the front: number view.front - 1. Not claimed: all are taken, or another generation runs.
  Result claim_front(std::uint32_t generation, std::uint32_t total) { return claim(generation, total, front_one); }
  /// The next chunk from the back: number total - view.back.
  Result claim_back(std::uint32_t generation, std::uint32_t total) { return claim(generation, total, back_one); }

  /// [receiver] Nothing can be claimed any more under the present generation. What had been.
  View close() {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while (!word_.compare_exchange_weak(seen, (seen | counts) + 1, std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    return decode(seen);
  }

 private:
  static constexpr unsigned count_bits = 16;
  static constexpr std::uint64_t back_one = 1;
  static constexpr std::uint64_t front_one = std::uint64_t{1} << count_bits;
  static constexpr std::uint64_t counts = (std::uint64_t{1} << (2 * count_bits)) - 1;

  static View decode(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> (2 * count_bits)), static_cast<std::uint32_t>(word >> count_bits) & max_chunks,
            static_cast<std::uint32_t>(word) & max_chunks};
  }

  Result claim(std::uint32_t generation, std::uint32_t total, std::uint64_t one) {
    std::uint64_t seen = word_.load(std::memory_order_acquire);
    for (;;) {
      const View view = decode(seen);
      if (view.generation != generation || view.front + view.back >= total) return {false, view};
      if (word_.compare_exchange_weak(seen, seen + one, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return {true, decode(seen + one)};
      }
    }
  }

  std::atomic<std::uint64_t>& word_;
};

/// Into what a message of `bytes` is cut: four chunks or more of 32 KB, or two, or one where it is no longer than that; of `most`
/// bytes each, which is what a copy may be cut into. Two of which one is short are no halves: 40 KB there and back took 1.15
/// times as long in chunks of 32 and 8 KB as without the sender, and as long in halves.
[[nodiscard]] constexpr std::uint32_t chunk_bytes_of(std::size_t bytes, std::size_t max_bytes) {
  constexpr std::size_t wanted_chunks = 4;
  constexpr std::size_t min_of_four_bytes = 32 * 1024;
  const auto even = [bytes](std::size_t chunks) {
    const std::size_t pages = (bytes + chunks * page_bytes - 1) / (chunks * page_bytes);
    return pages * page_bytes;
  };
  const std::size_t quarter = even(wanted_chunks);
  const std::size_t usual = std::min(quarter >= min_of_four_bytes ? quarter : even(bytes > min_of_four_bytes ? 2 : 1), max_bytes);
  const std::size_t min_countable = bytes / ChunkClaims::max_chunks + 1;
  return static_cast<std::uint32_t>(std::max(usual, min_countable));
}

}  // namespace sluice
