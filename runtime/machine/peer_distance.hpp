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
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/rare_occasions.hpp"

namespace sluice {

/// Round trips of a line between processors that share a cache take 70 to 170 ns, and 500 to 630 between others.
inline constexpr std::uint32_t most_near_ns = 300;
/// To read one, with the clock, takes 40, and 130 to 170.
inline constexpr std::uint32_t most_near_line_ns = 110;

/// A line takes more than three times as long where no cache is shared (Zen 5, ns: 20 to 50, and 140); in between. A look at one
/// between two messages takes a little longer.
inline constexpr double beyond_near = 1.8;
inline constexpr double looking_ns = 20;
/// What every line takes longer than.
inline constexpr std::uint32_t any_distance_ns = 1;

/// From what a line takes on it is better that the sender copies, as found between two processors: what a line (ns) takes there,
/// what it takes there and back, and whether it was better there. Where it is between two that share a cache it is everywhere: by
/// what a line takes these cannot be told from each other (20 to 50 ns).
[[nodiscard]] inline std::uint32_t least_left_to_sender_ns(double line_ns, double round_trip_ns, bool sender_was_better) {
  if (!sender_was_better) return static_cast<std::uint32_t>(looking_ns + line_ns * beyond_near);
  if (round_trip_ns <= most_near_ns) return any_distance_ns;
  return static_cast<std::uint32_t>(looking_ns + line_ns / beyond_near);
}

/// [one thread at a time]
class PeerDistance {
 public:
  /// Messages between two looks; twice as many after each that changes nothing.
  static constexpr std::uint32_t least_between_looks = 8;
  static constexpr std::uint32_t most_between_looks = 256;

  /// Of the next message: whether the distance is to be looked at. Counts.
  [[nodiscard]] bool is_due() { return --until_look_ == 0; }
  /// What it was, in ns for a line. 0: nothing was to be seen, and the next message is to be looked at.
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

/// Whether the lines of a peer's messages are far themselves. Where processes share processors each may have been written on
/// another one, but few are, and a look takes as long as copying 15 KB (64 KB scattered to three, all near: with a look at each
/// 1.18 times as long as where receivers read at once). So the longer all are alike the fewer are looked at, and the others taken
/// to be so, too.
/// [one thread at a time]
class MessageDistance {
 public:
  /// Messages of the peer between two looks.
  static constexpr std::uint32_t most_between_looks = 15;

  /// Of the next message. Counts.
  [[nodiscard]] bool is_due() { return looks_.is_due(); }
  void note(bool far) { looks_.note(far == std::exchange(is_far_, far)); }
  [[nodiscard]] bool is_far() const { return is_far_; }

 private:
  bool is_far_ = false;
  RareOccasions<most_between_looks> looks_;
};

/// Some of the last lines of what was written, in an order that no processor foresees.
inline constexpr std::array<std::size_t, 7> lines_before_end{2, 31, 11, 23, 5, 17, 41};

/// What it takes to read a line, in ns: the median of some, as others may be disturbed. `read`: a word of a line that the other
/// processor has just written, by its place; `order`: of the places, one that no processor foresees.
template <std::size_t lines, typename Read>
[[nodiscard]] std::uint32_t ns_of_lines(const std::array<std::size_t, lines>& order, const Read& read) {
  std::array<std::uint32_t, lines> took{};
  for (std::size_t i = 0; i < lines; ++i) {
    const std::uint64_t started = now_ns();
    const std::uint64_t word = read(order[i]);
    asm volatile("" : : "r"(word) : "memory");
    took[i] = static_cast<std::uint32_t>(now_ns() - started);
  }
  std::sort(took.begin(), took.end());
  return took[lines / 2];
}

}  // namespace sluice
