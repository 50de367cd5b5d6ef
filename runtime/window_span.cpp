#include "runtime/window_span.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "runtime/process_maps.hpp"

namespace sluice::window_span {
namespace {

/// User addresses of x86-64 with four page-table levels.
constexpr std::uintptr_t end_of_addresses = std::uintptr_t{1} << 47;
constexpr std::uintptr_t alignment = std::uintptr_t{1} << 30;

constinit std::atomic<std::uintptr_t> span_begin{0};
constinit std::atomic<std::uintptr_t> span_end{0};
constinit std::atomic<std::uintptr_t> next_place{0};
constinit std::mutex choosing;

void* as_pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

ByteRange largest_gap() {
  ByteRange largest{0, 0};
  std::uintptr_t from = 0;
  const auto consider = [&](std::uintptr_t to) {
    if (to > from && to - from > largest.size()) largest = {from, to};
  };
  const ProcessMaps maps;
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(maps, 0); walk.next(mapping) && mapping.bytes.begin < end_of_addresses; from = mapping.bytes.end) {
    consider(mapping.bytes.begin);
  }
  consider(end_of_addresses);
  return largest;
}

void choose() {
  const std::lock_guard lock(choosing);
  if (span_end.load(std::memory_order_relaxed) != 0) return;
  const ByteRange gap = largest_gap();
  const std::uintptr_t begin = (gap.begin + gap.size() / 4 + alignment - 1) / alignment * alignment;
  next_place.store(begin, std::memory_order_relaxed);
  span_begin.store(begin, std::memory_order_release);
  span_end.store(std::max(begin, gap.end - gap.size() / 4), std::memory_order_release);
}

}  // namespace

std::uintptr_t take(std::size_t bytes) {
  if (span_end.load(std::memory_order_acquire) == 0) choose();
  const std::uintptr_t end = span_end.load(std::memory_order_acquire);
  std::uintptr_t place = next_place.load(std::memory_order_relaxed);
  do {
    if (place >= end || bytes > end - place) return 0;
  } while (!next_place.compare_exchange_weak(place, place + bytes, std::memory_order_relaxed));
  return place;
}

bool contains(std::uintptr_t address) {
  return address >= span_begin.load(std::memory_order_acquire) && address < span_end.load(std::memory_order_acquire);
}

/// After mlockall(MCL_FUTURE) the kernel would fill an accessible mapping with memory at once, so it is unlocked before it
/// becomes accessible. A kernel before 4.17 does not know MAP_FIXED_NOREPLACE and takes the address for a wish.
bool map(ByteRange place, int file, std::uint64_t offset) {
  if (address_space_is_limited()) return errno = ENOMEM, false;
  constexpr int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* const wanted = as_pointer(place.begin);
  void* const mapped = mmap(wanted, place.size(), PROT_NONE, flags, file, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return false;
  if (mapped != wanted || munlock(mapped, place.size()) != 0 || mprotect(mapped, place.size(), PROT_READ | PROT_WRITE) != 0) {
    const int error = mapped == wanted ? errno : EEXIST;
    munmap(mapped, place.size());
    return errno = error, false;
  }
  madvise(mapped, place.size(), MADV_DONTFORK);  // a child has no use for it
  madvise(mapped, place.size(), MADV_DONTDUMP);  // the pages are in a core dump already, at their owner's address
  return true;
}

bool address_space_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < end_of_addresses;
}

}  // namespace sluice::window_span
