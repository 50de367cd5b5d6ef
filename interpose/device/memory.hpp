// Memory that belongs to a GPU's runtime: what the program's buffers are, and copies of what the processor cannot reach.
//
// Sluice loads no such runtime. It looks for one among the loaded libraries at the first call, and again after the program has
// called dlopen (device/libraries.cpp): without one, a call costs one load and a predictable branch.
//
//   answer of the runtime      class      what Sluice does
//   memory of a device         device     messages go through host memory, by the runtime's own copies (device/buffers.hpp)
//   registered or managed      shared     ordinary, but its pages are the driver's: never a block, never closed
//   unknown to it              ordinary
//
// The runtimes have locks of their own, which a thread of the program may hold while it waits for a page. So they are asked only
// by threads that have just come into a call, before anything of the engine's is held, and the engine is told by kept_memory.
//
// Threading: threads in calls. None of it in the fault handler, the helper thread, or under the engine lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice::device_memory {

enum class Class : std::uint8_t { ordinary, shared, device };

/// 0: no runtime is there. 1: dlopen was called; its wrapper sets that, in any thread. 2: libraries are looked through because of
/// it. 3: a runtime is there. Read by every call. Bare numbers, relaxed.
extern "C" [[gnu::visibility("hidden")]] std::atomic<std::uint8_t> sluice_device_search;

/// A GPU's runtime may be in the process.
inline bool possible() { return sluice_device_search.load(std::memory_order_relaxed) != 0; }

/// It is. One that comes later is not foreseen.
bool is_there();

/// What lies at the first and the last byte; a few places between are looked at as well when there are many pages. Kept_memory
/// knows the range by then if it is `shared`.
Class classify(ByteRange bytes);

/// By the runtime, at once. False when it refused.
bool copy_from_device(void* to, std::uintptr_t from, std::size_t bytes);
bool copy_to_device(std::uintptr_t to, const void* from, std::size_t bytes);

}  // namespace sluice::device_memory
