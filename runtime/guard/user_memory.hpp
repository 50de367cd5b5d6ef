// Copies between Sluice's memory and the application's.
//
// Page-guard rule 7: the engine never touches an application address whose page may be protected. Pages under guard
// are reached through their alias; everything else directly. With nothing under guard the cost is one load and a
// predictable branch.
//
// Threading: any thread. What is under guard must not grow during a copy: the engine lock is held, or the caller holds no
// lock at all and may wait in the fault handler.
#pragma once

#include <cstddef>
#include <cstring>

#include "runtime/copy/shared_copy.hpp"
#include "runtime/guard/page_guard.hpp"

namespace sluice {

/// The guard and the arena of this process; nullptr for both when they go. The copies below use them.
void register_user_memory(const PageGuard* guard, const AliasArena* arena);

/// Something is under guard. While it is not, and the engine lock is held so that nothing can come under guard, loops over
/// many small blocks may touch user memory directly.
[[nodiscard]] inline bool user_memory_is_guarded() { return PageGuard::active() != 0; }
/// Some page of `bytes` is under guard.
[[nodiscard]] bool user_memory_is_guarded(ByteRange bytes);

namespace detail {
void copy_from_guarded_user(std::byte* target, const std::byte* user, std::size_t bytes);
void copy_to_guarded_user(std::byte* user, const std::byte* source, std::size_t bytes);
}  // namespace detail

inline void copy_from_user(std::byte* target, const std::byte* user, std::size_t bytes) {
  if (bytes == 0) return;
  if (user_memory_is_guarded()) [[unlikely]]
    return detail::copy_from_guarded_user(target, user, bytes);
  copy_to_shared(target, user, bytes);
}

inline void copy_to_user(std::byte* user, const std::byte* source, std::size_t bytes) {
  if (bytes == 0) return;
  if (user_memory_is_guarded()) [[unlikely]]
    return detail::copy_to_guarded_user(user, source, bytes);
  std::memcpy(user, source, bytes);
}

/// An address through which [user, user + bytes) can be used while nothing more comes under guard: itself when none of it is
/// under guard now, otherwise its alias when all of it lies in blocks (and then for as long as the caller likes). nullptr:
/// neither; copy it segment by segment. Asks the kernel only while something is under guard.
[[nodiscard]] std::byte* unguarded_address(std::byte* user, std::size_t bytes);

}  // namespace sluice
