// Whether to wait a moment for a peer that is between two calls. Worth it only where it comes: after a wait in vain the next
// occasion is let pass, then three, seven and so on, until one was not in vain.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice {

/// [one thread at a time]
class Patience {
 public:
  static constexpr std::uint32_t most_let_pass = 127;

  /// Of the next occasion. Counts.
  [[nodiscard]] bool is_worth_it() {
    if (to_let_pass_ == 0) return true;
    --to_let_pass_;
    return false;
  }
  /// What became of a wait.
  void note(bool came) {
    let_pass_ = came ? 0 : std::min(2 * let_pass_ + 1, most_let_pass);
    to_let_pass_ = let_pass_;
  }

 private:
  std::uint32_t let_pass_ = 0;  // after the last wait
  std::uint32_t to_let_pass_ = 0;
};

}  // namespace sluice
