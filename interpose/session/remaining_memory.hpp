// Alias blocks after MPI_Finalize. They stay as they are, as nothing is gained by copying them back, and the program may have
// filled its memory with them. What the engine did for them is done here: fork, MADV_DONTNEED, mremap, and looks for what was
// freed.
//
// Threading: any thread. One mutex guards the arena; a fork holds it from its first handler to its last.
#pragma once

#include <memory>

#include "runtime/base/types.hpp"

namespace sluice {
class AliasArena;
}

namespace sluice::remaining_memory {

/// Takes over when there are blocks. Once in a process, after the engine has ended.
void keep(std::unique_ptr<AliasArena> arena);
[[nodiscard]] bool any();

/// As the engine's calls of these names.
void discard(ByteRange bytes);
void make_private(ByteRange bytes);

/// The handlers of fork.
void before_fork();
void in_parent_of_fork();
void in_child_of_fork();

}  // namespace sluice::remaining_memory
