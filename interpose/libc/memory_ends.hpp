// Whether the wrappers of libc/memory.cpp see what the program's allocator gives back.
#pragma once

namespace sluice {

/// Nobody stands in front of them: an allocator in the program itself, the runtime of a sanitizer, another preloaded library. Any
/// thread; looks names up, so not from an allocator.
[[nodiscard]] bool sees_ends_of_memory();

/// Before any memory is watched: `free` looks at what it is given only while some is.
void hear_of_watches();

}  // namespace sluice
