#include "runtime/process/alternate_stacks.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

namespace sluice::alternate_stacks {
namespace {

/// A slot outlives its thread, until another thread finds no free one.
struct Slot {
  std::atomic<pid_t> thread{0};
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
};
constinit std::array<Slot, 256> slots{};
constinit std::atomic<std::size_t> used{0};  // slots from here on were never taken
/// More threads have one than there are slots.
constinit std::atomic<bool> full{false};

bool is_alive(pid_t thread) {
  const int saved_errno = errno;
  const bool alive = syscall(SYS_tgkill, getpid(), thread, 0) == 0;
  errno = saved_errno;
  return alive;
}

bool take(Slot& slot, pid_t from, pid_t thread) {
  if (!slot.thread.compare_exchange_strong(from, thread, std::memory_order_relaxed)) return false;
  const std::size_t end = static_cast<std::size_t>(&slot - slots.data()) + 1;
  std::size_t known = used.load(std::memory_order_relaxed);
  while (known < end && !used.compare_exchange_weak(known, end, std::memory_order_relaxed)) {
  }
  return true;
}

Slot* find(pid_t thread) {
  const auto own = std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.thread == thread; });
  return own == slots.end() ? nullptr : &*own;
}

Slot* claim(pid_t thread) {
  for (Slot& slot : slots) {
    if (slot.thread.load(std::memory_order_relaxed) == 0 && take(slot, 0, thread)) return &slot;
  }
  for (Slot& slot : slots) {
    const pid_t owner = slot.thread.load(std::memory_order_relaxed);
    if (!is_alive(owner) && take(slot, owner, thread)) return &slot;
  }
  return nullptr;
}

}  // namespace

void note(ByteRange stack) {
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  Slot* slot = find(thread);
  if (!slot && stack.empty()) return;
  if (!slot) slot = claim(thread);
  if (!slot) return full.store(true, std::memory_order_relaxed);
  slot->end.store(0, std::memory_order_relaxed);
  slot->begin.store(stack.begin, std::memory_order_relaxed);
  slot->end.store(stack.end, std::memory_order_relaxed);
}

bool share_pages_with(ByteRange bytes) {
  const std::size_t count = used.load(std::memory_order_relaxed);
  if (count == 0) return false;
  if (full.load(std::memory_order_relaxed)) return true;
  const ByteRange pages = PageRange::covering(bytes).bytes();
  return std::any_of(slots.begin(), slots.begin() + count, [&](const Slot& slot) {
    const ByteRange stack{slot.begin.load(std::memory_order_relaxed), slot.end.load(std::memory_order_relaxed)};
    return !stack.empty() && stack.overlaps(pages);
  });
}

}  // namespace sluice::alternate_stacks
