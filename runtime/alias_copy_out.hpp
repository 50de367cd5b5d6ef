// The way back: memory of the memory file becomes private memory again, in place, with the same contents.
//
// Runs in a child between fork and whatever the application does next, where other threads' locks may be held for ever:
// system calls only.
#pragma once

#include <cstdint>

#include "runtime/types.hpp"

namespace sluice {

/// Replaces the mapping `bytes` of `file`, which begins at `file_offset`, by private anonymous memory with the same contents and
/// the given protection. Threads that write meanwhile fault. False when the kernel refused; then the old mapping is in place,
/// read-only.
bool copy_out(int file, std::uint64_t file_offset, ByteRange bytes, int protection);

}  // namespace sluice
