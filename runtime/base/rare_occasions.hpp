// Of many occasions those to take, where each costs something and most bring nothing: after one in vain the next is let pass,
// then three, seven and so on, until one was not in vain.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice {

/// [one thread at a time]
template <std::uint32_t max_let_pass>
class RareOccasions {
 public:
  /// Of the next one. Counts.
  [[nodiscard]] bool is_due() {
    if (to_let_pass_ == 0) return true;
    --to_let_pass_;
    return false;
  }
  /// What became of one that was taken.
  void note(bool in_vain) {
    let_pass_ = in_vain ? std::min(2 * let_pass_ + 1, max_let_pass) : 0;
    to_let_pass_ = let_pass_;
  }

 private:
  std::uint32_t let_pass_ = 0;  // after the last one that was taken
  std::uint32_t to_let_pass_ = 0;
};

}  // namespace sluice
