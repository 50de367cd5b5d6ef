// Whether two halves pay of long messages into memory that is no alias block (Delivery::write_at): the sender's by the kernel,
// which finds and holds the receiver's pages for it, beside the receiver's own. Both take page faults and locks of one address
// space. Whether that is faster than the receiver alone depends on kernel, machine and memory, and nobody measures it beforehand.
//
// So it is tried. A period lasts from the first such message to the end of the last one that is open: of a window, all of it; of
// messages one after the other, one. All messages of a period go the same way, and what is kept is its time for its bytes: which
// counts all that a program waits for, page faults and answers included. For each size (a power of two) periods of both ways take
// turns, `samples` of each. Then the way with the better median holds, for longer each time that this changes nothing. Until both
// halves are known to win by `least_gain` the receiver copies alone, as it does without trials.
//
// Messages of several sizes in one period say nothing of any, and the turn is over all the same: else a trial might never end. A
// period that does not end learns nothing: the receiver copies alone.
//
// Pure. [one thread at a time]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

class PlainHalves {
 public:
  static constexpr std::size_t samples = 5;
  /// Two halves take the sender's processor as well.
  static constexpr float least_gain = 1.1F;
  /// Periods until the other way is tried again, and at most. A trial is `samples` periods of the slower one.
  static constexpr std::uint32_t least_between_trials = 256;
  static constexpr std::uint32_t most_between_trials = 4096;
  /// Of one period.
  static constexpr std::uint32_t most_messages = 1024;

  /// A message begins that either way could copy: whether both sides are to.
  [[nodiscard]] bool begin(std::size_t bytes, std::uint64_t now_ns);
  /// One that began has ended, whichever way it went.
  void end(std::uint64_t now_ns);

  /// For tests: what is known of such messages.
  [[nodiscard]] bool win(std::size_t bytes) const { return sizes_[size_of(bytes)].both_win; }

 private:
  /// ns for a byte.
  struct Rates {
    std::array<float, samples> last{};
    std::uint32_t count = 0;

    void add(float rate) { last[count++ % samples] = rate; }
    [[nodiscard]] bool is_known() const { return count >= samples; }
    [[nodiscard]] float median() const;
  };
  struct Size {
    Rates alone;
    Rates both;
    bool both_win = false;
    std::uint32_t left_of_trial = 2 * samples;  // periods
    std::uint32_t between_trials = least_between_trials;
    std::uint32_t until_trial = 0;

    /// For the next period.
    [[nodiscard]] bool choose();
    void judge();
  };

  static std::size_t size_of(std::size_t bytes);

  std::array<Size, 65> sizes_{};
  std::uint32_t open_ = 0;

  // --- the period that runs, while `open_` is not 0
  std::size_t size_ = 0;
  bool both_ = false;
  bool is_mixed_ = false;
  std::uint32_t messages_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t began_ns_ = 0;
};

}  // namespace sluice
