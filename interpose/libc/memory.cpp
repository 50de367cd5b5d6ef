// Calls that return memory or change what lies at an address (page-guard rule 12). What is under guard there is completed
// first: data must not arrive in memory that the program was told is zero, and what the guard opens must not undo a protection
// that the program has set. For that free and realloc would need no wrapper (docs/page-guard.md): theirs tell the end of watched
// memory (runtime/alias/watched_memory.hpp), and cost a jump or a load while there is none.
//
// Allocators call these functions with their locks held, so the host, which allocates, is left alone while they wait.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "interpose/libc/kept_calls.hpp"
#include "interpose/libc/memory_ends.hpp"
#include "interpose/mpi/entry.hpp"
#include "interpose/session/remaining_memory.hpp"
#include "interpose/session/session_use.hpp"
#include "runtime/alias/arena.hpp"
#include "runtime/alias/kept_memory.hpp"
#include "runtime/alias/private_views.hpp"
#include "runtime/alias/watched_memory.hpp"
#include "runtime/process/process_maps.hpp"
#include "runtime/process/window_span.hpp"

namespace sluice {
namespace {

bool drops_contents(int advice) { return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE; }

std::size_t in_whole_pages(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

void settle_break(std::uintptr_t now, std::uintptr_t wanted) {
  if (wanted >= now) return;
  watched_memory::note_end({wanted, now});
  if (watching()) settle_inside_allocator(reinterpret_cast<void*>(wanted), now - wanted);
}

std::uintptr_t current_break() { return reinterpret_cast<std::uintptr_t>(NEXT(sbrk)(0)); }

/// `noexcept` makes of a call at the end a jump.
using Free = void(void*) noexcept;

/// nullptr while this thread looks for it: `dlsym` frees the message of an error that was before. Then that message stays.
Free* next_free() {
  constexpr auto slot = static_cast<std::size_t>(LibcCall::free);
  static thread_local bool looks = false;
  void* found = detail::libc_next[slot].load(std::memory_order_relaxed);
  if (!found && !looks) [[unlikely]] {
    looks = true;
    found = detail::look_up(LibcCall::free);
    looks = false;
  }
  return reinterpret_cast<Free*>(found);
}

void note_end_of_allocation(void* memory) {
  if (memory) watched_memory::note_end(ByteRange::of(memory, malloc_usable_size(memory)));
}

void first_free(void* memory) noexcept;

/// Where `free` goes, so that it costs no more than one jump while nothing is watched: `first_free` until the next `free` is
/// known, then that one, and `watched_free` while memory is watched. Relaxed, as watched_memory::any is.
constinit std::atomic<Free*> free_target{first_free};

void first_free(void* memory) noexcept {
  Free* const next = next_free();
  if (!next) return;
  Free* expected = first_free;
  free_target.compare_exchange_strong(expected, next, std::memory_order_relaxed);
  next(memory);
}

void watched_free(void* memory) noexcept {
  note_end_of_allocation(memory);
  if (Free* const next = next_free()) next(memory);
}

void note_watch(bool any) { free_target.store(any ? watched_free : first_free, std::memory_order_relaxed); }

void settle_below_mapping(void* address, std::size_t bytes, int flags) {
  if ((flags & MAP_FIXED) == 0) return;
  watched_memory::note_end(ByteRange::of(address, bytes));
  if (watching()) settle_inside_allocator(address, bytes);
}

/// Memory of the program may be that of a memory file.
bool shows_files() { return engaged() || private_views::expected() || remaining_memory::any(); }

/// Shared memory is not freed before it is dropped, so a block is dropped at once where private memory would be some time later.
int drop_some_time(void* address, std::size_t bytes) {
  const int result = NEXT(madvise)(address, bytes, MADV_FREE);
  return result != 0 && errno == EINVAL && shows_files() ? NEXT(madvise)(address, bytes, MADV_DONTNEED) : result;
}

/// What mremap has added to a view is the file's.
void* with_zeros_behind(void* moved, std::size_t old_bytes, std::size_t new_bytes) {
  if (moved == MAP_FAILED || !private_views::expected() || new_bytes <= in_whole_pages(old_bytes)) return moved;
  const int saved_errno = errno;
  private_views::drop(ByteRange::of(static_cast<std::byte*>(moved) + in_whole_pages(old_bytes),
                                    in_whole_pages(new_bytes) - in_whole_pages(old_bytes)));
  errno = saved_errno;
  return moved;
}

bool is_ordinary_memory(ByteRange bytes) {
  const ProcessMaps maps;
  ProcessMapping mapping;
  ProcessMaps::Walk walk(maps, bytes.begin);
  for (std::uintptr_t address = bytes.begin; address < bytes.end; address = mapping.bytes.end) {
    if (!walk.next(mapping) || !mapping.bytes.contains(address)) return false;
    if (mapping.inode != 0 && !private_views::include(mapping)) return false;
    if (mapping.shared || !mapping.readable || !mapping.writable) return false;
  }
  return true;
}

/// The kernel grows and moves single mappings only. Memory of which a part was a block is several, also when all of it is private
/// again.
void* move_by_copy(void* address, std::size_t old_bytes, std::size_t new_bytes, int flags, void* target) {
  const bool fixed = (flags & MREMAP_FIXED) != 0;
  if ((flags & ~MREMAP_FIXED) != MREMAP_MAYMOVE) return errno = EFAULT, MAP_FAILED;
  constexpr int ordinary = MAP_PRIVATE | MAP_ANONYMOUS;
  void* const moved = NEXT(mmap)(target, new_bytes, PROT_READ | PROT_WRITE, fixed ? ordinary | MAP_FIXED : ordinary, -1, 0);
  if (moved == MAP_FAILED) return moved;
  std::memcpy(moved, address, std::min(in_whole_pages(old_bytes), in_whole_pages(new_bytes)));
  NEXT(munmap)(address, old_bytes);
  return moved;
}

/// What mlockall(MCL_CURRENT) does to one mapping. The windows of the memory files have holes, which would become memory.
void fill(const ProcessMapping& mapping) {
  if (window_span::contains(mapping.bytes.begin)) return;
  const int advice = mapping.writable && !mapping.shared ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  NEXT(madvise)(reinterpret_cast<void*>(mapping.bytes.begin), mapping.bytes.size(), advice);
}

/// Blocks belong to the session, and to what it leaves behind once it has ended.
void discard_blocks(ByteRange dropped) {
  if (const SessionUse use; use) return engine().memory().discard(dropped);
  if (remaining_memory::any()) remaining_memory::discard(dropped);
}

void make_blocks_private(ByteRange bytes) {
  if (const SessionUse use; use) return engine().memory().make_private(bytes);
  if (remaining_memory::any()) remaining_memory::make_private(bytes);
}

int lock_everything(int flags) {
  const int result = NEXT(mlockall)(flags | MCL_ONFAULT);
  if (result != 0 || (flags & MCL_ONFAULT) != 0 || (flags & MCL_CURRENT) == 0) return result;
  const ProcessMaps maps;
  ProcessMapping mapping;
  for (ProcessMaps::Walk walk(maps, 0); walk.next(mapping);) fill(mapping);
  return result;
}

const void* object_of(const void* address) {
  Dl_info found{};
  return address && dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

}  // namespace

void hear_of_watches() { watched_memory::set_listener(note_watch); }

bool sees_ends_of_memory() {
  static const char here = 0;
  for (const char* const name : {"free", "realloc", "munmap", "mmap", "mremap", "brk", "sbrk"}) {
    if (object_of(NEXT(dlsym)(RTLD_DEFAULT, name)) != object_of(&here)) return false;
  }
  return true;
}

}  // namespace sluice

/// A call that may end memory which is watched for that, and else like a LIBRARY_CALL.
#define ENDING_CALL(result, name, parameters, arguments, ...)                \
  extern "C" __attribute__((visibility("default"))) result name parameters { \
    if (sluice::watching() || sluice::watched_memory::any()) [[unlikely]] {  \
      __VA_ARGS__;                                                           \
    }                                                                        \
    return NEXT(name) arguments;                                             \
  }

using sluice::settle_break;
using sluice::settle_inside_allocator;

extern "C" __attribute__((visibility("default"))) void free(void* memory) noexcept {
  sluice::free_target.load(std::memory_order_relaxed)(memory);
}

extern "C" __attribute__((visibility("default"))) int munmap(void* address, size_t bytes) noexcept {
  if (sluice::watching()) [[unlikely]]
    settle_inside_allocator(address, bytes);
  sluice::watched_memory::note_end(sluice::ByteRange::of(address, bytes));
  sluice::kept_memory::forget_all(sluice::ByteRange::of(address, bytes));
  return NEXT(munmap)(address, bytes);
}
LIBRARY_CALL(int, mprotect, (void* address, size_t bytes, int protection) noexcept, (address, bytes, protection),
             settle_inside_allocator(address, bytes))
ENDING_CALL(void*, mmap, (void* address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept,
            (address, bytes, protection, flags, file, offset), sluice::settle_below_mapping(address, bytes, flags))
ENDING_CALL(void*, mmap64, (void* address, size_t bytes, int protection, int flags, int file, off64_t offset) noexcept,
            (address, bytes, protection, flags, file, offset), sluice::settle_below_mapping(address, bytes, flags))
LIBRARY_CALL(int, mlock, (const void* address, size_t bytes) noexcept, (address, bytes), settle_inside_allocator(address, bytes))
LIBRARY_CALL(int, mlock2, (const void* address, size_t bytes, unsigned flags) noexcept, (address, bytes, flags),
             settle_inside_allocator(address, bytes))
ENDING_CALL(int, brk, (void* end) noexcept, (end), settle_break(sluice::current_break(), reinterpret_cast<std::uintptr_t>(end)))
ENDING_CALL(void*, sbrk, (intptr_t increment) noexcept, (increment),
            settle_break(sluice::current_break(), sluice::current_break() + static_cast<std::uintptr_t>(increment)))
ENDING_CALL(void*, realloc, (void* memory, size_t bytes) noexcept, (memory, bytes), sluice::note_end_of_allocation(memory))
ENDING_CALL(void*, shmat, (int segment, const void* address, int flags) noexcept, (segment, address, flags),
            sluice::watched_memory::note_end_of_everything())
/// Its data may have been sent.
ENDING_CALL(int, dlclose, (void* library) noexcept, (library), sluice::watched_memory::note_end_of_everything())

extern "C" __attribute__((visibility("default"))) int mlockall(int flags) noexcept {
  if (sluice::watching()) [[unlikely]]
    sluice::settle_everything();
  return sluice::engaged() ? sluice::lock_everything(flags) : NEXT(mlockall)(flags);
}

extern "C" __attribute__((visibility("default"))) int madvise(void* address, size_t bytes, int advice) noexcept {
  if (sluice::watching()) [[unlikely]]
    settle_inside_allocator(address, bytes);
  const int result = sluice::keep(sluice::keeping_of_advice(address, bytes, advice), [&] {
    return advice == MADV_FREE ? sluice::drop_some_time(address, bytes) : NEXT(madvise)(address, bytes, advice);
  });
  if (result == 0 && sluice::drops_contents(advice)) {
    const auto dropped = sluice::ByteRange::of(address, sluice::in_whole_pages(bytes));  // as the kernel does
    sluice::discard_blocks(dropped);
    if (sluice::private_views::expected()) sluice::private_views::drop(dropped);
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
  sluice::watched_memory::note_end(sluice::ByteRange::of(address, old_bytes));
  if (target) sluice::watched_memory::note_end(sluice::ByteRange::of(target, new_bytes));
  sluice::make_blocks_private(sluice::ByteRange::of(address, old_bytes));
  void* const moved = NEXT(mremap)(address, old_bytes, new_bytes, flags, target);
  const bool refused = moved == MAP_FAILED && errno == EFAULT && sluice::shows_files();
  if (!refused || !sluice::is_ordinary_memory(sluice::ByteRange::of(address, sluice::in_whole_pages(old_bytes))))
    return sluice::with_zeros_behind(moved, old_bytes, new_bytes);
  return sluice::move_by_copy(address, old_bytes, new_bytes, flags, target);
}
