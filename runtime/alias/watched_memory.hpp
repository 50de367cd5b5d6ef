// Which memory is watched for its end: small send buffers that an adapter reads from their blocks
// (rendezvous/frequent_sender.hpp). The calls by which a program gives memory back, or changes what lies at an address, say so
// here first: free, realloc, munmap, mmap in place, mremap, brk, sbrk, dlclose (interpose/libc). What has not ended need not be
// asked about: no system call.
//
// Whoever puts a buffer under watch asks the kernel afterwards, once, whether the block is there (AliasArena::is_live). From then
// on the block is there as long as `lasts` says so. An end that is told for nothing costs one such question.
//
// Unseen are system calls by an instruction of the program's own, and an allocator in front of Sluice's wrappers. The second is
// looked for when the job begins: then nothing is watched (`set_usable`). docs/registration.md has the cases.
//
// A table of pages, direct-mapped. In each: which lines of the page are watched, and how often one of these has ended. A buffer
// has the lines that lie wholly in it, so that the end of its neighbour in the page is not its own; a part without such a line
// has all that it touches. A page that takes the place of another counts as an end. The stamp of a buffer is the sum over its
// pages.
//
//   word          written by                            read by              ordering
//   usable, any   whoever begins and ends the job       wrappers, `lasts`    relaxed: who frees a buffer has seen it sent
//   listener      whoever loads the wrappers            whoever writes any   relaxed: set before the job begins
//   page          `watch` [engine lock]                 wrappers             relaxed; a wrapper that reads an old one misses
//                                                                            only a buffer that is not being freed
//   lines         `watch` sets, wrappers clear          wrappers             read-modify-write: no bit is lost
//   ends          wrappers, `watch`                     `watch`, `lasts`     release and acquire, beside the order that the
//                                                                            allocator or the kernel gives to whoever has the
//                                                                            memory next: it sees the end of its predecessor
//
// Threading: `watch` and `lasts` with the engine lock held; all others any thread, any time, allocators and forked children
// included: no lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice::watched_memory {

namespace detail {
extern std::atomic<bool> any;
void note_end(ByteRange bytes);
}  // namespace detail

/// One buffer under watch.
struct Watch {
  ByteRange bytes;
  std::uint32_t stamp = 0;
};

/// Calls that end memory come by the wrappers.
void set_usable(bool usable);
[[nodiscard]] bool is_usable();

[[nodiscard]] Watch watch(ByteRange bytes);
/// No end of any of its bytes was told since.
[[nodiscard]] bool lasts(const Watch& watched);

/// Whoever would rather be told than ask `any`: with the first watch, and when nobody asks any more. One; nullptr for none. It
/// comes behind the change, as relaxed as `any` is. [any thread]
void set_listener(void (*listener)(bool any));

/// Some memory is watched. One relaxed load.
[[nodiscard]] inline bool any() { return detail::any.load(std::memory_order_relaxed); }
/// The program is about to give these bytes back, or Sluice to have something else there.
inline void note_end(ByteRange bytes) {
  if (any()) [[unlikely]]
    detail::note_end(bytes);
}
void note_end_of_everything();

/// Nobody asks any more.
void forget_everything();

}  // namespace sluice::watched_memory
