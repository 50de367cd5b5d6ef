// Bytes of a message out of the program's buffer, whatever its layout, into memory that a transport can use.
//
// Belongs to the engine lock: what is under guard stays so meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/engine/request.hpp"

namespace sluice {

/// Segments that go through Sluice's own memory stay in the cache between the two copies.
inline constexpr std::size_t bounce_bytes = 32 * 1024;
using Bounce = std::unique_ptr<std::byte[]>;

/// Bytes of the message from `offset` on; how many.
std::size_t pack_at(const Request& send, std::size_t offset, std::span<std::byte> target);

}  // namespace sluice
