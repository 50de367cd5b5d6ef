// Where the main thread's thread-local storage lies. The dynamic linker takes it from ordinary private memory, so nothing else
// tells it from a buffer; that of other threads is at the top of their stacks.
#pragma once

#include "runtime/base/types.hpp"

namespace sluice {

/// The main thread's control block and the static thread-local variables of all libraries in front of it, with some room for
/// those of libraries that are loaded later. Measured at the first call, which takes the dynamic linker's lock: AliasArena's
/// constructor makes it.
ByteRange main_thread_storage();

}  // namespace sluice
