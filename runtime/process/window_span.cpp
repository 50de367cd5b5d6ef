#include "runtime/process/window_span.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <bitset>
#include <cerrno>
#include <mutex>

#include "runtime/process/process_maps.hpp"

namespace sluice::window_span {
namespace {

/// User addresses of x86-64 with four page-table levels. A thread sanitizer leaves the program the uppermost part of them.
#ifdef __SANITIZE_THREAD__
constexpr std::uintptr_t lowest_address = 0x7e8000000000;
#else
constexpr std::uintptr_t lowest_address = 0;
#endif
constexpr std::uintptr_t end_of_addresses = std::uintptr_t{1} << 47;
constexpr std::size_t unit = std::size_t{1} << 30;
constexpr std::size_t max_units = end_of_addresses / 2 / unit;

constinit std::atomic<std::uintptr_t> span_begin{0};
constinit std::atomic<std::uintptr_t> span_end{0};
constinit std::mutex places;  // protects what follows
constinit std::bitset<max_units> taken;

void* as_pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

std::size_t units_of(std::size_t bytes) { return (bytes + unit - 1) / unit; }

ByteRange largest_gap() {
  ByteRange largest{0, 0};
  std::uintptr_t from = lowest_address;
  const auto consider = [&](std::uintptr_t to) {
    if (to > from && to - from > largest.size()) largest = {from, to};
  };
  const ProcessMaps maps;
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(maps, from); walk.next(mapping) && mapping.bytes.begin < end_of_addresses;
       from = mapping.bytes.end) {
    consider(mapping.bytes.begin);
  }
  consider(end_of_addresses);
  return largest;
}

void choose_span() {
  const ByteRange gap = largest_gap();
  const std::uintptr_t begin = (gap.begin + gap.size() / 4 + unit - 1) / unit * unit;
  span_begin.store(begin, std::memory_order_release);
  span_end.store(std::max(begin, (gap.end - gap.size() / 4) / unit * unit), std::memory_order_release);
}

void mark(std::size_t first, std::size_t count, bool as_taken) {
  for (std::size_t i = first; i < first + count; ++i) taken.set(i, as_taken);
}

}  // namespace

std::uintptr_t take(std::size_t bytes) {
  const std::lock_guard lock(places);
  if (span_end.load(std::memory_order_relaxed) == 0) choose_span();
  const std::uintptr_t begin = span_begin.load(std::memory_order_relaxed);
  const std::size_t units = (span_end.load(std::memory_order_relaxed) - begin) / unit;
  const std::size_t wanted = units_of(bytes);
  std::size_t free = 0;  // units in a row, up to the one looked at
  for (std::size_t i = 0; i < units; ++i) {
    free = taken.test(i) ? 0 : free + 1;
    if (free < wanted) continue;
    const std::size_t first = i + 1 - wanted;
    mark(first, wanted, true);
    return begin + first * unit;
  }
  return 0;
}

void give_back(std::uintptr_t place, std::size_t bytes) {
  const std::lock_guard lock(places);
  mark((place - span_begin.load(std::memory_order_relaxed)) / unit, units_of(bytes), false);
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

bool is_a_limit(std::uint64_t bytes) { return bytes < end_of_addresses; }

bool address_space_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && is_a_limit(limit.rlim_cur);
}

}  // namespace sluice::window_span
