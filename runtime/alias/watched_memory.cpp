#include "runtime/alias/watched_memory.hpp"

#include <algorithm>
#include <array>

namespace sluice::watched_memory {
namespace {

/// 64 MB of buffers that lie together share no slot.
constexpr std::size_t slot_count = std::size_t{1} << 14;
constexpr std::size_t line_bytes = 64;
static_assert(page_bytes / line_bytes == 64, "a bit for each line");

struct Slot {
  std::atomic<std::uintptr_t> page{0};  // its number
  std::atomic<std::uint64_t> lines{0};
  std::atomic<std::uint32_t> ends{0};
};

constinit std::array<Slot, slot_count> slots{};
constinit std::atomic<std::uint32_t> ends_of_everything{0};
constinit std::atomic<bool> usable{false};
constinit std::atomic<void (*)(bool)> told{nullptr};

void set_any(bool now) {
  if (detail::any.exchange(now, std::memory_order_relaxed) == now) return;
  if (auto* const listener = told.load(std::memory_order_relaxed)) listener(now);
}

Slot& slot_of(std::uintptr_t page) { return slots[page % slot_count]; }

std::uint64_t lines_between(std::size_t first, std::size_t end) {
  if (first >= end) return 0;
  const std::uint64_t below_end = end == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1;
  return below_end & (~std::uint64_t{0} << first);
}

/// Lines of the page that the bytes touch.
std::uint64_t touched(std::uintptr_t page, ByteRange bytes) {
  const std::uintptr_t start = page * page_bytes;
  const std::size_t first = (std::max(bytes.begin, start) - start) / line_bytes;
  const std::size_t end = (std::min(bytes.end, start + page_bytes) - start + line_bytes - 1) / line_bytes;
  return lines_between(first, end);
}

std::uint64_t wholly_inside(std::uintptr_t page, ByteRange bytes) {
  const std::uintptr_t start = page * page_bytes;
  const std::size_t first = (std::max(bytes.begin, start) - start + line_bytes - 1) / line_bytes;
  const std::size_t end = (std::min(bytes.end, start + page_bytes) - start) / line_bytes;
  return lines_between(first, end);
}

void end_lines(Slot& slot, std::uint64_t lines) {
  if ((slot.lines.load(std::memory_order_relaxed) & lines) == 0) return;
  slot.ends.fetch_add(1, std::memory_order_release);
  slot.lines.fetch_and(~lines, std::memory_order_release);
}

std::uint32_t stamp_of(ByteRange bytes) {
  std::uint32_t sum = ends_of_everything.load(std::memory_order_acquire);
  const PageRange pages = PageRange::covering(bytes);
  for (std::uintptr_t page = pages.begin; page < pages.end; ++page) sum += slot_of(page).ends.load(std::memory_order_acquire);
  return sum;
}

}  // namespace

constinit std::atomic<bool> detail::any{false};

void detail::note_end(ByteRange bytes) {
  if (bytes.empty()) return;
  const PageRange pages = PageRange::covering(bytes);
  if (pages.size() < slot_count) {
    for (std::uintptr_t page = pages.begin; page < pages.end; ++page) {
      Slot& slot = slot_of(page);
      if (slot.page.load(std::memory_order_relaxed) == page) end_lines(slot, touched(page, bytes));
    }
    return;
  }
  for (Slot& slot : slots) {
    const std::uintptr_t page = slot.page.load(std::memory_order_relaxed);
    if (page >= pages.begin && page < pages.end) end_lines(slot, touched(page, bytes));
  }
}

void set_usable(bool are_seen) { usable.store(are_seen, std::memory_order_relaxed); }
bool is_usable() { return usable.load(std::memory_order_relaxed); }

Watch watch(ByteRange bytes) {
  set_any(true);
  const PageRange pages = PageRange::covering(bytes);
  for (std::uintptr_t page = pages.begin; page < pages.end; ++page) {
    Slot& slot = slot_of(page);
    if (slot.page.load(std::memory_order_relaxed) != page) {
      slot.ends.fetch_add(1, std::memory_order_release);  // of the other page's buffers
      slot.lines.store(0, std::memory_order_relaxed);
      slot.page.store(page, std::memory_order_relaxed);
    }
    const std::uint64_t inside = wholly_inside(page, bytes);
    slot.lines.fetch_or(inside != 0 ? inside : touched(page, bytes), std::memory_order_release);
  }
  return {bytes, stamp_of(bytes)};
}

bool lasts(const Watch& watched) { return !watched.bytes.empty() && stamp_of(watched.bytes) == watched.stamp; }

void set_listener(void (*listener)(bool any)) { told.store(listener, std::memory_order_relaxed); }

void note_end_of_everything() { ends_of_everything.fetch_add(1, std::memory_order_release); }

void forget_everything() {
  set_any(false);
  for (Slot& slot : slots) slot.lines.store(0, std::memory_order_relaxed);
  note_end_of_everything();
}

}  // namespace sluice::watched_memory
