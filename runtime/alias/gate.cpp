#include "runtime/alias/gate.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>

namespace sluice::alias_gate {
namespace {

std::atomic<std::uint32_t> sequence{0};  // odd: closed
std::atomic<std::uintptr_t> closed_begin{0};
std::atomic<std::uintptr_t> closed_end{0};
std::atomic<std::uint64_t> changes{0};
static_assert(sizeof sequence == sizeof(std::uint32_t));

void futex(int operation, std::uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&sequence), operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

}  // namespace

void close(ByteRange bytes) {
  closed_begin.store(bytes.begin, std::memory_order_relaxed);
  closed_end.store(bytes.end, std::memory_order_relaxed);
  sequence.fetch_add(1, std::memory_order_seq_cst);
}

void open() {
  note_change();
  sequence.fetch_add(1, std::memory_order_seq_cst);
  futex(FUTEX_WAKE, INT_MAX);
}

bool wait_if_closed(std::uintptr_t address) {
  const std::uint32_t seen = sequence.load(std::memory_order_acquire);
  const bool closed = (seen & 1U) != 0;
  const ByteRange range{closed_begin.load(std::memory_order_relaxed), closed_end.load(std::memory_order_relaxed)};
  if (!closed || !range.contains(address)) return false;
  while (sequence.load(std::memory_order_acquire) == seen) futex(FUTEX_WAIT, seen);
  return true;
}

void wait_until_open() {
  const std::uint32_t seen = sequence.load(std::memory_order_acquire);
  while ((seen & 1U) != 0 && sequence.load(std::memory_order_acquire) == seen) futex(FUTEX_WAIT, seen);
}

void note_change() { changes.fetch_add(1, std::memory_order_seq_cst); }

std::uint64_t generation() { return changes.load(std::memory_order_seq_cst); }

}  // namespace sluice::alias_gate
