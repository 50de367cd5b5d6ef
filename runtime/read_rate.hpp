// How fast lines that a peer writes anew are read from it and handed back (source_history.hpp), and whether that is worth it.
//
// Where two processors share a cache it is the fastest. Where they do not, lines that were read are slow to write again whatever
// their reader does, and it is better that the sender copies, streaming past the caches: it keeps its lines. Zen 5 guest, µs for
// 256 KB that both ranks of a pair write, exchange and read:
//
//                                   one cache for both   none
//   by plain reads                          54            179
//   by reads that hand back                 35            172
//   by the senders                          42             35
//   (the host alone)                        70            209
//
// A node has pairs of either kind, a virtual machine's processors are moved about, and no system says which is which. Reading is
// slower, too, between processors that share no cache, so what it takes is compared with what it took between two processors for
// which the best way is known (calibration.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// [one thread at a time]
class ReadRate {
 public:
  /// Messages until a far peer's memory is read again to see whether it still is far; twice as many each time that it is.
  static constexpr std::uint32_t least_between_looks = 8;
  static constexpr std::uint32_t most_between_looks = 1024;
  /// Of less nothing is remembered: it says what beginning costs.
  static constexpr std::size_t least_bytes = std::size_t{32} << 10;

  /// For the next message: whether its sender is to copy it, as 64 KB take longer than that. Counts.
  [[nodiscard]] bool is_far(std::uint32_t far_ns);
  /// What reading so many bytes took.
  void took(std::size_t bytes, std::uint64_t ns);

 private:
  float ns_ = 0;  // for 64 KB; 0: not known
  std::uint32_t between_looks_ = least_between_looks;
  std::uint32_t until_look_ = least_between_looks;
};

}  // namespace sluice
