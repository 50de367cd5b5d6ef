// What the application's threads do now. Progress keeps it; others read it.
//
// Belongs to the engine lock.
#pragma once

#include <cstdint>

namespace sluice {

struct ApplicationNow {
  std::uint32_t inside = 0;   // threads in a carried call, or in the fault handler
  std::uint32_t waiting = 0;  // ... in MPI_Wait and the like
  bool awaits_many = false;   // receives, the last call that waited for some, or polled for several
};

}  // namespace sluice
