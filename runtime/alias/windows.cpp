#include "runtime/alias/windows.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "runtime/alias/arena.hpp"
#include "runtime/process/window_span.hpp"

namespace sluice {

AliasWindows::~AliasWindows() {
  for (auto& base : bases_) {
    if (std::byte* const window = base.load(std::memory_order_relaxed))
      window_span::give_back(reinterpret_cast<std::uintptr_t>(window), window_bytes);
  }
}

bool AliasWindows::fit(ByteRange bytes) {
  return !bytes.empty() && bytes.end <= (std::uintptr_t{1} << address_bits) &&
         bytes.begin >> window_bits == (bytes.end - 1) >> window_bits;
}

bool AliasWindows::map(ByteRange bytes, int file) {
  constexpr std::uintptr_t step = window_span::extent_bytes / page_bytes;
  const PageRange extents{bytes.begin / window_span::extent_bytes * step,
                          ((bytes.end - 1) / window_span::extent_bytes + 1) * step};
  if (mapped_.contains(extents)) return true;
  std::atomic<std::byte*>& base = bases_[bytes.begin >> window_bits];
  if (!base.load(std::memory_order_relaxed)) {
    const std::uintptr_t place = window_span::take(window_bytes);
    if (place == 0) return errno = ENOMEM, false;
    base.store(reinterpret_cast<std::byte*>(place), std::memory_order_release);
  }
  PageSet missing;
  missing.add(extents);
  mapped_.for_each_inside(extents, [&](PageRange run) { missing.remove(run); });
  bool all = true;
  missing.for_each([&](PageRange run) {
    const ByteRange part = run.bytes();
    all = all && window_span::map(ByteRange::of(alias(part.begin), part.size()), file, part.begin);
    if (all) mapped_.add(run);
  });
  return all;
}

void AliasWindows::unmap(RegistrationWatcher* watcher) {
  mapped_.for_each([&](PageRange run) {
    for_each_alias(run.bytes(), [&](ByteRange part) {
      if (watcher) watcher->note_freed(part);
      munmap(reinterpret_cast<void*>(part.begin), part.size());
    });
  });
  mapped_ = {};
}

void AliasWindows::abandon() {
  for (auto& base : bases_) base.store(nullptr, std::memory_order_relaxed);
  mapped_ = {};
}

/// The part of `bytes` that lies in the window of its first byte.
ByteRange AliasWindows::within_window(ByteRange bytes) {
  return {bytes.begin, std::min(bytes.end, (bytes.begin / window_bytes + 1) * window_bytes)};
}

bool AliasWindows::include(const ProcessMapping& mapping) const {
  const std::size_t window = mapping.file_offset >> window_bits;
  const auto base = reinterpret_cast<std::uintptr_t>(bases_[window].load(std::memory_order_acquire));
  return base != 0 && ByteRange{base, base + window_bytes}.contains(mapping.bytes.begin);
}

}  // namespace sluice
