// Which memory may become an alias block in place: ordinary private memory that nobody runs on and nobody has pinned.
//
// Stacks are refused because a thread that pushes onto a read-only page dies: the kernel cannot even build its signal frame.
// They are known by: the mapping that the kernel put the program's arguments in (main thread); the thread control block,
// which the C library keeps at the top of every stack it allocates and which the kernel tells (robust list) for each thread;
// and the caller's own stack pointer, for stacks that the program made itself. Thread-local storage lies beside the control
// block: with it goes what every instruction of a thread may need, the fault handler's own variables included.
//
// Memory that somebody holds without the kernel's maps telling is known by what this process called (kept_memory) and by what the
// kernel answers to questions (mapping_probe).
//
// Memory in huge pages is refused as well (huge_pages).
//
// Threading: as AliasArena, never in the fault handler.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/file.hpp"
#include "runtime/alias/huge_pages.hpp"
#include "runtime/alias/page_set.hpp"
#include "runtime/base/types.hpp"
#include "runtime/process/mapping_probe.hpp"
#include "runtime/process/process_maps.hpp"

namespace sluice {

/// Readable and writable, or neither while it is under guard, or read-only in pages of pending sends (`sent`). Another protection
/// is the program's own, and would not survive a release.
bool is_protected_like_a_block(const ProcessMapping& mapping, const PageSet& sent, ByteRange bytes);

/// Who is asked about memory.
struct Surveyors {
  const AliasFile& file;
  const ProcessMaps& maps;
  const PageSet& sent;
  MappingProbe& probe;
  HugePages* huge;  // nullptr: they are no reason
};

/// Appends the parts of `pages` that are not blocks yet to `missing`, in order, unless some part can never be one.
Ineligible survey_range(const Surveyors& ask, PageRange pages, std::vector<PageRange>& missing);

/// Memory that must stay where it is, by /proc/self/status, which does not tell where that is. As if there were, when it cannot
/// be read.
struct HeldMemory {
  bool locked = true;               // VmLck: moving pages would unlock them
  std::uint64_t pinned_kb = ~0ULL;  // VmPin: a device or io_uring goes on reading and writing the pages that were there
};
HeldMemory held_memory();

/// glibc's malloc may have made a mapping for one allocation that begins with this page: the page holds what its header looks
/// like (malloc.c, `mmapped chunks`: how far the header is from the mapping's beginning, then size and flags).
bool may_begin_allocation(std::span<const std::byte> page);

/// A mapping elsewhere shows these pages of the file: mremap carried a block away.
bool is_shown_elsewhere(const AliasFile& file, const ProcessMaps& maps, PageRange pages);

}  // namespace sluice
