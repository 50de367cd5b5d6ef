#include "runtime/process/lock_waiters.hpp"

#include <sched.h>

#include <array>
#include <atomic>

namespace sluice::lock_waiters {
namespace {

/// Each of a condition's sleepers takes two. With none left nothing is closed until there are some again.
constexpr std::size_t slot_count = 1024;
constexpr std::size_t no_slot = slot_count;
/// No lock of the C library is larger.
constexpr std::size_t largest_lock = 64;

struct alignas(64) Slot {
  std::atomic<std::uintptr_t> lock{0};
};

constinit std::array<Slot, slot_count> slots{};
constinit std::atomic<std::size_t> used{0};          // slots at and above it were never taken
constinit std::atomic<std::size_t> without_slot{0};  // sleepers that found none
constinit std::atomic<bool> closing{false};

std::size_t take_slot(std::uintptr_t lock) {
  for (std::size_t i = 0; i < slot_count; ++i) {
    // Before the slot is taken: who finds it taken must also find it below `used`.
    std::size_t known = used.load(std::memory_order_relaxed);
    while (known <= i && !used.compare_exchange_weak(known, i + 1, std::memory_order_seq_cst)) {
    }
    std::uintptr_t free = 0;
    if (slots[i].lock.load(std::memory_order_relaxed) == 0 &&
        slots[i].lock.compare_exchange_strong(free, lock, std::memory_order_seq_cst)) {
      return i;
    }
  }
  without_slot.fetch_add(1, std::memory_order_seq_cst);
  return no_slot;
}

void give_back(std::size_t slot) {
  if (slot == no_slot) {
    without_slot.fetch_sub(1, std::memory_order_release);
  } else {
    slots[slot].lock.store(0, std::memory_order_release);
  }
}

bool nobody_sleeps_in(ByteRange bytes) {
  if (without_slot.load(std::memory_order_seq_cst) != 0) return false;
  const PageRange pages = PageRange::covering(bytes);
  const std::size_t end = used.load(std::memory_order_seq_cst);
  for (std::size_t i = 0; i < end; ++i) {
    const std::uintptr_t lock = slots[i].lock.load(std::memory_order_seq_cst);
    if (lock != 0 && PageRange::covering({lock, lock + largest_lock}).overlaps(pages)) return false;
  }
  return true;
}

}  // namespace

Announcement::Announcement(const void* lock) : slot_(take_slot(reinterpret_cast<std::uintptr_t>(lock))) {
  while (closing.load(std::memory_order_seq_cst)) {
    give_back(slot_);
    while (closing.load(std::memory_order_acquire)) sched_yield();
    slot_ = take_slot(reinterpret_cast<std::uintptr_t>(lock));
  }
}

Announcement::~Announcement() { give_back(slot_); }

Closing::Closing(ByteRange bytes) {
  closing.store(true, std::memory_order_seq_cst);
  permitted_ = nobody_sleeps_in(bytes);
}

Closing::~Closing() { closing.store(false, std::memory_order_release); }

}  // namespace sluice::lock_waiters
