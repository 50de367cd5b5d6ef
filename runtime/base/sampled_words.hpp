// A hash of a few words of a large buffer, to notice whether a program has written it anew since. It may have and left all of
// these as they were; so nothing but speed may depend on the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sluice {

/// Evenly spaced, the first and the last among them.
inline constexpr std::size_t sampled_words = 16;

[[nodiscard]] inline std::uint64_t hash_of_samples(std::span<const std::byte> bytes) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  std::uint64_t hash = bytes.size();
  if (bytes.size() < sizeof hash) return hash;
  for (std::size_t i = 0; i < sampled_words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, &bytes[i * (bytes.size() - sizeof hash) / (sampled_words - 1)], sizeof word);
    hash = (hash ^ word) * golden;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace sluice
