// SipHash-2-4 with a result of 64 bits (Aumasson, Bernstein: SipHash: a fast short-input PRF, 2012): a keyed pseudo-random
// function for short messages. Whoever does not know the key cannot tell its results from random numbers, so they serve as
// proofs of knowing it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

using SipKey = std::array<std::byte, 16>;

/// Any thread; allocates nothing; takes the same time for all keys and contents of one length.
[[nodiscard]] std::uint64_t siphash(const SipKey& key, std::span<const std::byte> message);

}  // namespace sluice
