// The way back: memory of the memory file becomes private memory again, in place, with the same contents.
//
// Runs in a child between fork and whatever the application does next, where other threads' locks may be held for ever:
// system calls only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice {

/// Puts private anonymous memory with the contents of `file` at `file_offset` and the given protection in place of whatever is at
/// `bytes`. Nobody may write there meanwhile. False when the kernel refused; then the place is as it was.
bool copy_out(int file, std::uint64_t file_offset, ByteRange bytes, int protection);

/// The same in parts: untouched memory for all of them, which becomes one mapping again when every part is in its place, ...
void* reserve_copy(std::size_t bytes);  // nullptr: refused
/// ... and a part of it, which leaves `reserved` for `bytes`.
bool copy_out_part(int file, std::uint64_t file_offset, ByteRange bytes, void* reserved, int protection);

/// The same where nothing is mapped.
bool fill_gap(int file, std::uint64_t file_offset, ByteRange gap, int protection);

}  // namespace sluice
