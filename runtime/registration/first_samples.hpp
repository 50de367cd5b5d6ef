// The median of the first few durations of something, as it really comes. A mean would count a thread that lost its processor.
//
// Threading: as its owner.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace sluice {

class FirstSamples {
 public:
  /// An odd number: one of them is the median.
  static constexpr std::size_t wanted = 9;

  void add(double sample) {
    if (count_ < wanted) samples_[count_++] = sample;
  }
  [[nodiscard]] bool are_enough() const { return count_ == wanted; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// Not without any.
  [[nodiscard]] double median() const {
    std::array<double, wanted> sorted = samples_;
    auto* const middle = sorted.begin() + count_ / 2;
    std::nth_element(sorted.begin(), middle, sorted.begin() + count_);
    return *middle;
  }

 private:
  std::array<double, wanted> samples_{};
  std::size_t count_ = 0;
};

}  // namespace sluice
