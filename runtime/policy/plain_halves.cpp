#include "runtime/policy/plain_halves.hpp"

#include <algorithm>
#include <bit>

namespace sluice {

std::size_t PlainHalves::size_of(std::size_t bytes) { return static_cast<std::size_t>(std::bit_width(bytes)); }

float PlainHalves::Rates::median() const {
  std::array<float, samples> sorted = last;
  std::nth_element(sorted.begin(), sorted.begin() + samples / 2, sorted.end());
  return sorted[samples / 2];
}

/// Turns of a trial begin with the receiver alone.
bool PlainHalves::Size::choose() {
  if (left_of_trial == 0 && --until_trial == 0) left_of_trial = 2 * samples;
  return left_of_trial == 0 ? both_win : left_of_trial % 2 == 1;
}

void PlainHalves::Size::judge() {
  const bool before = both_win;
  both_win = alone.is_known() && both.is_known() && both.median() * least_gain <= alone.median();
  between_trials = both_win == before ? std::min(2 * between_trials, most_between_trials) : least_between_trials;
  until_trial = between_trials;
}

bool PlainHalves::begin(std::size_t bytes, std::uint64_t now_ns) {
  if (open_++ == 0) {
    size_ = size_of(bytes);
    both_ = sizes_[size_].choose();
    is_mixed_ = false;
    messages_ = 0;
    bytes_ = 0;
    began_ns_ = now_ns;
  }
  is_mixed_ = is_mixed_ || size_of(bytes) != size_ || messages_ == most_messages;
  if (is_mixed_) return false;
  ++messages_;
  bytes_ += bytes;
  return both_;
}

void PlainHalves::end(std::uint64_t now_ns) {
  if (--open_ != 0) return;
  Size& size = sizes_[size_];
  if (!is_mixed_) (both_ ? size.both : size.alone).add(static_cast<float>(now_ns - began_ns_) / static_cast<float>(bytes_));
  if (size.left_of_trial != 0 && --size.left_of_trial == 0) size.judge();
}

}  // namespace sluice
