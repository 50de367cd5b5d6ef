// A member of a window, as far as waking it goes.
#pragma once

#include <atomic>

#include "runtime/base/types.hpp"
#include "runtime/transport/wake_mask.hpp"

namespace sluice {

struct WindowMember {
  Peer peer{};
  const std::atomic<WakeMask>* wake_mask = nullptr;  // LaneMemory::wake_mask_of

  /// A thread of it sleeps, perhaps for what was published.
  [[nodiscard]] bool is_asleep() const {
    return wake_mask && asks_for(wake_mask->load(std::memory_order_seq_cst), EventMask::lane);
  }
};

}  // namespace sluice
