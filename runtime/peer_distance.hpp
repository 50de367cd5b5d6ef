// How far a peer's processor is: whether it shares a cache with this one. That decides who copies what a sender writes anew
// before each message (source_history.hpp).
//
// Where two processors share a cache it is the receiver, who hands the lines back. Where they do not, lines that were read are
// slow to write again whatever their reader does, and it is better that the sender copies, streaming past the caches: it keeps
// its lines. Zen 5 guest, µs for 256 KB that both ranks of a pair write, exchange and read:
//
//                                   one cache for both   none
//   by plain reads                          54            179
//   by reads that hand back                 35            172
//   by the senders                          42             35
//   (the host alone)                        70            209
//
// A node has pairs of either kind, a virtual machine's processors are moved about, and no system says which is which. So now and
// then a few lines that the peer has just written are read, one after the other; what that takes is compared with what it took
// between two processors for which the best way is known (calibration.hpp). The rate of copies would not do: it is no better
// between near processors that both copy than between far ones of which one does.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/clock.hpp"

namespace sluice {

/// Round trips of a line between processors that share a cache take 70 to 170 ns, and 500 to 630 between others.
inline constexpr std::uint32_t most_near_ns = 300;
/// To read one, with the clock, takes 60 to 90, and 130 and more.
inline constexpr std::uint32_t most_near_line_ns = 110;

/// A line takes more than three times as long where no cache is shared (Zen 5, ns: 20 to 50, and 140); in between. Where it is
/// found by its address in a peer's memory, that takes so much besides (90 and 185 together).
inline constexpr double beyond_near = 1.8;
inline constexpr double finding_ns = 45;
/// What every line takes longer than.
inline constexpr std::uint32_t any_distance_ns = 1;

/// From what a line takes on it is better that the sender copies, as found between two processors: what a line (ns) takes there,
/// what it takes there and back, and whether it was better there. Where it is between two that share a cache it is everywhere: by
/// what a line takes these cannot be told from each other (50 to 100 ns by the clock of some messages and others).
[[nodiscard]] inline std::uint32_t least_left_to_sender_ns(double line_ns, double round_trip_ns, bool sender_was_better) {
  if (!sender_was_better) return static_cast<std::uint32_t>(finding_ns + line_ns * beyond_near);
  if (round_trip_ns <= most_near_ns) return any_distance_ns;
  return static_cast<std::uint32_t>(finding_ns + line_ns / beyond_near);
}

/// [one thread at a time]
class PeerDistance {
 public:
  /// Messages between two looks; twice as many after each that changes nothing.
  static constexpr std::uint32_t least_between_looks = 8;
  static constexpr std::uint32_t most_between_looks = 256;

  /// Of the next message: whether the distance is to be looked at. Counts.
  [[nodiscard]] bool is_due() { return --until_look_ == 0; }
  /// What it was, in ns for a line.
  void note(std::uint32_t ns, std::uint32_t far_ns);
  /// By what was measured in this job's calibration.
  [[nodiscard]] bool is_far() const { return is_far_; }
  /// By what a line takes on any machine. Then the sender had better copy whatever it writes anew, however long.
  [[nodiscard]] bool shares_no_cache() const { return is_far_ && ns_ > most_near_line_ns; }

 private:
  std::uint32_t ns_ = 0;
  bool is_far_ = false;
  std::uint32_t between_looks_ = least_between_looks;
  std::uint32_t until_look_ = 1;
};

/// What it takes to read a line, in ns: the median of some, as others may be disturbed. `read`: a word so many bytes before the
/// end of memory that the other processor has just written, 3 KB or more. In an order that no processor foresees.
template <typename Read>
[[nodiscard]] std::uint32_t ns_of_lines(const Read& read) {
  constexpr std::size_t bytes_of_line = 64;
  constexpr std::array<std::size_t, 7> places{2, 31, 11, 23, 5, 17, 41};
  std::array<std::uint32_t, places.size()> took{};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::uint64_t started = now_ns();
    const std::uint64_t word = read(places[i] * bytes_of_line);
    asm volatile("" : : "r"(word) : "memory");
    took[i] = static_cast<std::uint32_t>(now_ns() - started);
  }
  std::sort(took.begin(), took.end());
  return took[took.size() / 2];
}

}  // namespace sluice
