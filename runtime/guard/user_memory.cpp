#include "runtime/guard/user_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "runtime/alias/arena.hpp"
#include "runtime/base/types.hpp"

namespace sluice {
namespace {

// Written at start and end of the engine, read by every copy made while something is under guard.
std::atomic<const PageGuard*> registered_guard{nullptr};
std::atomic<const AliasArena*> registered_arena{nullptr};

/// Calls copy(address to use, offset, bytes) for the segments of [user, user + bytes), each guarded as a whole or not at all. A
/// page that the application has unmapped while it was under guard is memory like any other, if there is something again.
template <typename Copy>
void for_each_segment(const PageGuard& guard, const AliasArena& arena, std::uintptr_t user, std::size_t bytes, Copy&& copy) {
  for (std::size_t offset = 0; offset < bytes;) {
    const std::uintptr_t address = user + offset;
    const std::size_t segment = std::min(bytes - offset, page_bytes - address % page_bytes);
    const ByteRange range{address, address + segment};
    const bool guarded = guard.covers(range) && !arena.first_in_place(range).empty();
    copy(guarded ? arena.alias(address) : reinterpret_cast<std::byte*>(address), offset, segment);
    offset += segment;
  }
}

template <typename Copy>
void copy_user(std::uintptr_t user, std::size_t bytes, Copy&& copy) {
  const PageGuard* guard = registered_guard.load(std::memory_order_acquire);
  const AliasArena* arena = registered_arena.load(std::memory_order_acquire);
  if (guard && arena && guard->covers({user, user + bytes})) {
    for_each_segment(*guard, *arena, user, bytes, copy);
  } else {
    copy(reinterpret_cast<std::byte*>(user), std::size_t{0}, bytes);
  }
}

}  // namespace

void register_user_memory(const PageGuard* guard, const AliasArena* arena) {
  registered_arena.store(arena, std::memory_order_release);
  registered_guard.store(guard, std::memory_order_release);
}

bool user_memory_is_guarded(ByteRange bytes) {
  const PageGuard* guard = user_memory_is_guarded() ? registered_guard.load(std::memory_order_acquire) : nullptr;
  return guard && guard->covers(bytes);
}

void detail::copy_from_guarded_user(std::byte* target, const std::byte* user, std::size_t bytes) {
  copy_user(reinterpret_cast<std::uintptr_t>(user), bytes, [&](const std::byte* segment, std::size_t offset, std::size_t length) {
    copy_to_shared(target + offset, segment, length);
  });
}

void detail::copy_to_guarded_user(std::byte* user, const std::byte* source, std::size_t bytes) {
  copy_user(reinterpret_cast<std::uintptr_t>(user), bytes,
            [&](std::byte* segment, std::size_t offset, std::size_t length) { std::memcpy(segment, source + offset, length); });
}

std::byte* unguarded_address(std::byte* user, std::size_t bytes) {
  const PageGuard* guard = user_memory_is_guarded() ? registered_guard.load(std::memory_order_acquire) : nullptr;
  const AliasArena* arena = registered_arena.load(std::memory_order_acquire);
  const ByteRange range = ByteRange::of(user, bytes);
  if (!guard || !arena || !guard->covers(range)) return user;
  const ByteRange live = arena->first_in_place(range);
  return live.begin == range.begin && live.end == range.end ? arena->alias(range.begin) : nullptr;
}

}  // namespace sluice
