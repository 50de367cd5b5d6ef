// Where threads wait that wrote to a range while it was being moved into the memory file, and how the fault handler tells a
// fault that Sluice caused from a wild access.
//
// A migration makes its range read-only, copies it, and maps the copy over it; writers meanwhile fault, and wait here.
// One migration at a time (the engine lock is held), so one range is enough.
//
// Words: `begin`, `end` are written before `sequence` becomes odd (release) and read after it was seen odd (acquire).
// `generation` grows after every change that closed pages took effect, before a look-up finds any of them open. So when two
// faults of one thread at one address both find the page open, and the same generation, then whatever closed the page last had
// opened it again before the first of them was judged, and cannot have caused the second.
//
// Threading: any thread; everything may run in the fault handler.
#pragma once

#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice::alias_gate {

/// The pages of `bytes` are about to become read-only.
void close(ByteRange bytes);
/// They are writable again.
void open();

/// If `address` lies in a range that is closed, waits until it is open and returns true.
bool wait_if_closed(std::uintptr_t address);

/// Waits until no range is closed.
void wait_until_open();

/// Pages have become inaccessible for whatever reason.
void note_change();
[[nodiscard]] std::uint64_t generation();

}  // namespace sluice::alias_gate
