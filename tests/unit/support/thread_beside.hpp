// A thread beside the one that tests: of alias blocks and releases, which other threads can forbid for a moment.
#pragma once

#include <atomic>
#include <thread>

#include "runtime/guard/page_guard.hpp"

namespace sluice {

/// A thread that is at `work` when this returns. One that is being made, or that ends, has all signals blocked, and no buffer
/// becomes a block meanwhile: waits until there is none. Needs a page guard or an alias arena.
template <class Work>
std::thread beside(Work work) {
  std::atomic<bool> begun = false;
  std::thread made([&begun, work] {
    begun = true;
    work();
  });
  while (!begun || !PageGuard::holds_writers_up()) std::this_thread::yield();
  return made;
}

}  // namespace sluice
