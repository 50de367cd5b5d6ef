// Private mappings of a memory file, which a fork leaves in the place of blocks, in the parent and in its children.
//
// They are memory like any other, but for one thing: what is dropped from one (MADV_DONTNEED), or is added to it (mremap), shows
// the file, where a program counts on zeros. So the wrappers of these calls put anonymous memory there. The C library's own such
// calls go past the wrappers, and count on nothing.
//
// Outlives the engine, and goes on in children. Words: `identity` is written once, before `expected` (release, acquire).
//
// Threading: any thread; no lock, no allocation.
#pragma once

#include <sys/stat.h>

#include "runtime/base/types.hpp"
#include "runtime/process/process_maps.hpp"

namespace sluice::private_views {

/// This process, or a child, may have views of the file from now on.
void expect(const struct stat& file);
[[nodiscard]] bool expected();

/// The whole pages of `bytes` that a view shows read as zeros from now on.
void drop(ByteRange bytes);

/// The mapping is one.
[[nodiscard]] bool include(const ProcessMapping& mapping);

}  // namespace sluice::private_views
