// Hints to the processor about lines of cache that two processes hand to each other. They change no value and no order, and do
// nothing on processors that do not know them. [any thread]
#pragma once

#include <cstddef>

namespace sluice::cache_hints {

/// How much memory two of so many processes had better use in turn for messages to each other (ring.hpp). `elsewhere`: each has
/// a processor of its own.
[[nodiscard]] std::size_t lap_bytes(std::size_t processes, bool elsewhere) noexcept;

/// The bytes were written for a reader on another processor: moves their lines to the cache that both share, so that the reader
/// need not ask this processor for them. Costs a reader on the same processor its nearest cache.
void demote(const std::byte* first, std::size_t bytes) noexcept;

/// The bytes are going to be overwritten soon: fetches their lines back from whoever read them.
void own(const std::byte* first, std::size_t bytes) noexcept;

/// The bytes are going to be read soon.
inline void fetch(const std::byte* first, std::size_t bytes) noexcept {
  for (std::size_t offset = 0; offset < bytes; offset += 64) __builtin_prefetch(first + offset);
}

}  // namespace sluice::cache_hints
