// Memory for Sluice itself, apart from the application's allocator.
//
// The helper thread and the fault handler must never enter the application's malloc: the application may be stopped inside
// it, holding its lock, on a page that only they can complete. In the preloaded library, operator new and delete are
// replaced by this heap (interpose/libc/new_delete.cpp); unit tests keep the sanitizer's.
//
// Size classes up to 64 KB, four for each doubling, from 1 MB chunks that are never returned; larger pieces are mappings of
// their own. A block is preceded by a header of 16 bytes: its class, and the next free block while it is free.
//
// There is no lock. Each class keeps its free blocks on a stack whose head is one word, the address of the first block and
// a count of pushes, so that a compare-and-exchange that was overtaken by a pop and a push of the same block fails. The
// header is never part of what a user writes to, and chunks stay mapped, so a thread that was overtaken may still read it.
//
// Threading: any thread, any time: the fault handler and other signal handlers included, also while they interrupt one of
// these functions. A child after fork may go on at once; blocks that other threads were just taking are lost to it.
#pragma once

#include <cstddef>

namespace sluice {

/// 16-byte aligned; nullptr when the system has no memory.
void* private_allocate(std::size_t bytes);
void private_free(void* memory);

}  // namespace sluice
