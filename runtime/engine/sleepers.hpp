// Application threads that sleep inside calls, and how they are woken by what this process does itself.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>

#include "runtime/transport/doorbell.hpp"

namespace sluice {

struct Sleepers {
  Doorbell* doorbell;  // nullptr in a job of one process, where they yield instead
  std::size_t count = 0;

  [[nodiscard]] bool any() const { return count != 0; }
  void wake() const {
    if (any() && doorbell) doorbell->poke();
  }
};

}  // namespace sluice
