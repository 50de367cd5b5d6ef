// Measures the terms of FrequentSends (frequent_sends.hpp) in memory of its own: what a block and its registration cost, what it
// takes to find them again, and what a copy takes.
//
// Threading: engine lock.
#pragma once

#include <optional>

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/registration/frequent_sends.hpp"
#include "runtime/registration/job_registrations.hpp"

namespace sluice {

class FrequentProbe {
 public:
  struct Parts {
    AliasArena& arena;
    AliasBlocks& blocks;
    JobRegistrations& registrations;
    Rdma& adapter;
  };

  /// Takes some 100 µs. Nothing where no block can be made just now, or nothing registered. The last memory that was measured is
  /// there as long as this.
  [[nodiscard]] std::optional<FrequentTerms> measure(const Parts& parts);

 private:
  Mapping memory_;
};

}  // namespace sluice
