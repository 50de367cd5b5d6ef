// What a program may do with memory of its own that it has received into: give it back, resize it, drop it, protect it.
//
// All of these take slots that own their memory (Slot::owned()).
#pragma once

#include <cstddef>

#include "memory.hpp"

namespace random_program {

/// Frees or unmaps the slot, and takes as much memory again, in the same place if that can be had, filled with its background.
Slot replace(const Slot& slot);

/// realloc, mremap, or munmap of the end. The contents stay as far as they fit; what is added is unspecified.
void resize(Slot& slot, std::size_t bytes, bool unmap_the_end);

/// Afterwards every byte is zero: MADV_DONTNEED, or a new mapping over the old one. Mappings only.
void drop_contents(const Slot& slot, bool map_over);

/// Mappings only.
void set_writable(const Slot& slot, bool writable);

}  // namespace random_program
