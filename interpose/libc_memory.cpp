// Calls that return memory or change what lies at an address (page-guard rule 12). What is under guard there is completed
// first: data must not arrive in memory that the program was told is zero, and what the guard opens must not undo a protection
// that the program has set. Why free and realloc need no wrapper: docs/page-guard.md.
//
// Allocators call these functions with their locks held, so the host, which allocates, is left alone while they wait.

#include "interpose/libc_next.hpp"
// The shape of the wrappers comes first.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdarg>

#include "interpose/entry.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace sluice {
namespace {

bool drops_contents(int advice) { return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE; }

void settle_break(std::uintptr_t now, std::uintptr_t wanted) {
  if (wanted < now) settle_inside_allocator(reinterpret_cast<void*>(wanted), now - wanted);
}

std::uintptr_t current_break() { return reinterpret_cast<std::uintptr_t>(NEXT(sbrk)(0)); }

void* map_over(void* address, std::size_t bytes, int flags) {
  if ((flags & MAP_FIXED) != 0) settle_inside_allocator(address, bytes);
  return address;
}

}  // namespace
}  // namespace sluice

using sluice::settle_break;
using sluice::settle_inside_allocator;

LIBRARY_CALL(int, munmap, (void* address, size_t bytes) noexcept, (address, bytes), settle_inside_allocator(address, bytes))
LIBRARY_CALL(int, mprotect, (void* address, size_t bytes, int protection) noexcept, (address, bytes, protection),
             settle_inside_allocator(address, bytes))
LIBRARY_CALL(int, pkey_mprotect, (void* address, size_t bytes, int protection, int key) noexcept,
             (address, bytes, protection, key), settle_inside_allocator(address, bytes))
LIBRARY_CALL(void*, mmap, (void* address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept,
             (address, bytes, protection, flags, file, offset), sluice::map_over(address, bytes, flags))
LIBRARY_CALL(void*, mmap64, (void* address, size_t bytes, int protection, int flags, int file, off64_t offset) noexcept,
             (address, bytes, protection, flags, file, offset), sluice::map_over(address, bytes, flags))
LIBRARY_CALL(int, mlock, (const void* address, size_t bytes) noexcept, (address, bytes), settle_inside_allocator(address, bytes))
LIBRARY_CALL(int, mlock2, (const void* address, size_t bytes, unsigned flags) noexcept, (address, bytes, flags),
             settle_inside_allocator(address, bytes))
LIBRARY_CALL(int, mlockall, (int flags) noexcept, (flags), sluice::settle_everything())
LIBRARY_CALL(int, brk, (void* end) noexcept, (end), settle_break(sluice::current_break(), reinterpret_cast<std::uintptr_t>(end)))
LIBRARY_CALL(void*, sbrk, (intptr_t increment) noexcept, (increment),
             settle_break(sluice::current_break(), sluice::current_break() + static_cast<std::uintptr_t>(increment)))

extern "C" __attribute__((visibility("default"))) int madvise(void* address, size_t bytes, int advice) noexcept {
  if (sluice::watching()) [[unlikely]]
    settle_inside_allocator(address, bytes);
  const int result = NEXT(madvise)(address, bytes, advice);
  if (result == 0 && sluice::engaged() && sluice::drops_contents(advice)) {
    sluice::engine().discard(sluice::ByteRange::of(address, bytes));
  }
  return result;
}

extern "C" __attribute__((visibility("default"))) void* mremap(void* address, size_t old_bytes, size_t new_bytes, int flags,
                                                               ...) noexcept {
  va_list arguments;
  va_start(arguments, flags);
  void* const target = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  if (sluice::watching() && target) [[unlikely]]
    settle_inside_allocator(target, new_bytes);
  if (sluice::engaged()) sluice::engine().make_private(sluice::ByteRange::of(address, old_bytes));
  return NEXT(mremap)(address, old_bytes, new_bytes, flags, target);
}
