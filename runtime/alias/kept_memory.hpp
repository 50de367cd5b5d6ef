// Memory whose pages must stay where they are, as far as calls of this process tell. A memory file's pages cannot take the place
// of pages that the kernel, a driver or a device holds, nor take over what the kernel keeps with a private mapping and
// /proc/self/maps does not show. What tells: the wrappers of the C library's functions, from the start of the program on.
//
// Ranges are forgotten when the program says so, or unmaps them itself. `free` unmaps unseen, so a range may be remembered for
// too long: then a buffer there never becomes a block.
//
// Threading: any thread, any time: signal handlers, allocators with their locks held, and the fault handler included. One lock,
// a leaf, under which nothing but the private heap is touched, with signals blocked. Who notes a range takes the engine lock
// afterwards, and who replaces or closes pages looks while holding that: one of the two sees the other.
#pragma once

#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice::kept_memory {

/// Why pages stay. Each is remembered apart from the others.
enum class Keeper : std::uint8_t {
  lent,         // the kernel, a driver or a device goes on with the pages that are there
  watched,      // by the program's own userfaultfd
  keyed,        // has a protection key
  sealed,       // mseal
  guard_pages,  // MADV_GUARD_INSTALL
  unforked,     // MADV_DONTFORK
  wiped,        // MADV_WIPEONFORK
  undumped,     // MADV_DONTDUMP
  merged,       // MADV_MERGEABLE
  driver,       // registered with a GPU's runtime, or managed by it
  huge,         // MADV_HUGEPAGE, MADV_COLLAPSE: keeps memory out of blocks, but not from being closed
  count
};

void note(ByteRange bytes, Keeper keeper);
void forget(ByteRange bytes, Keeper keeper);
/// The program has unmapped them.
void forget_all(ByteRange bytes);

/// From now on all memory is kept: somebody may hold any of it.
void note_everything();

/// Lent for as long as one operation lasts. Calls come in pairs.
void begin_use(ByteRange bytes);
void end_use(ByteRange bytes);

/// Some page of `bytes` is kept, whatever for but huge pages. One relaxed load when there is none at all.
[[nodiscard]] bool overlaps(ByteRange bytes);
/// ... because somebody goes on with the very pages that are there.
[[nodiscard]] bool is_lent(ByteRange bytes);
/// The program has asked for huge pages there.
[[nodiscard]] bool is_advised_huge(ByteRange bytes);

}  // namespace sluice::kept_memory
