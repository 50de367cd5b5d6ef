#include "runtime/guard/slots.hpp"

namespace sluice {

Guarded* GuardedSlots::take() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].in_use) continue;
    slots_[i].in_use = true;
    if (i >= high_water_.load(std::memory_order_relaxed)) high_water_.store(i + 1, std::memory_order_release);
    return &slots_[i];
  }
  return nullptr;
}

void GuardedSlots::give_back(Guarded& slot) {
  slot.last.store(0, std::memory_order_release);
  slot.in_use = false;
  std::size_t end = high_water_.load(std::memory_order_relaxed);
  while (end > 0 && !slots_[end - 1].in_use) --end;
  high_water_.store(end, std::memory_order_release);
}

}  // namespace sluice
