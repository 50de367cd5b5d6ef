// Bytes of a message into the buffer of its receive.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/engine/request.hpp"

namespace sluice {

class AliasArena;

/// The next ones, from `receive.offset` on; what is not wanted is left out. `arena`: where the buffers of released receives lie.
void deliver(Request& receive, std::span<const std::byte> payload, const AliasArena* arena);

}  // namespace sluice
