// Where threads have their alternate signal stacks (sigaltstack). The kernel builds the frame of a handler there and ends the
// program when it cannot write, so a page of one is never read-only or closed: it is refused when memory becomes a block, and
// when a release would close it.
//
// Threading: `note` writes the calling thread's slot, any thread may read all of them. Who notes a stack takes the engine lock
// afterwards, and who closes pages looks while holding it: one of the two sees the other.
#pragma once

#include "runtime/base/types.hpp"

namespace sluice::alternate_stacks {

/// The calling thread's is there from now on; empty: it has none. Safe in signal handlers.
void note(ByteRange stack);

/// Some thread's lies in one of the pages of `bytes`, or may. One relaxed load when no thread has one.
[[nodiscard]] bool share_pages_with(ByteRange bytes);

}  // namespace sluice::alternate_stacks
