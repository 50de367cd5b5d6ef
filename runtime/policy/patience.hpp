// Whether to wait a moment for a peer that is between two calls. Worth it only where it comes: ever more rarely where it does
// not.
#pragma once

#include <cstdint>

#include "runtime/base/rare_occasions.hpp"

namespace sluice {

/// [one thread at a time]
class Patience {
 public:
  static constexpr std::uint32_t most_let_pass = 127;

  /// Of the next occasion. Counts.
  [[nodiscard]] bool is_worth_it() { return waits_.is_due(); }
  /// What became of a wait.
  void note(bool came) { waits_.note(!came); }

 private:
  RareOccasions<most_let_pass> waits_;
};

}  // namespace sluice
