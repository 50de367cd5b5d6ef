// Copies between memories that two processors share: rings, and the memory files of alias blocks.
//
// A plain store fetches its line before it overwrites it, here from the other processor's cache. There are two ways around that:
// the string instruction announces that whole lines will be written, and streaming stores go past the caches to memory. Which is
// the fastest depends on the processor, on the length, and on where the lines are: apps/bench/micro/copy_bench.cpp shows it.
//
//   library    memcpy of the C library
//   string     rep movsb
//   vector     loads and stores of the widest registers: AVX-512, AVX2, or what every x86-64 has
//   streaming  the same with stores that go past the caches
//   handing_back  as vector; each line of the source is written back to memory (clwb) soon after it was read.
//              A line that was read out of another processor's cache is in both caches, and waits for this one
//              at its next store there. Written back, it is not, on processors that share a cache (Zen 5)
//
// Streaming stores are ordered with nothing, not even with a release store that follows them. Every streaming copy therefore ends
// with an sfence: what a copy function wrote is visible before anything that its caller stores afterwards with release order,
// such as a progress word or the record of a FIN.
//
// Threading: any thread, signal handlers included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sluice {

enum class Stores : std::uint8_t { library, string, vector, streaming, handing_back };
inline constexpr std::size_t kinds_of_stores = 5;

/// The ranges do not overlap; any alignment, any length.
using CopyFunction = void (*)(std::byte* target, const std::byte* source, std::size_t bytes);

struct CopyVariant {
  std::string_view name;  // "vector-avx512"
  Stores stores;
  CopyFunction copy;
};

/// What this processor can run; of one kind the widest first. The library's is always there.
[[nodiscard]] std::span<const CopyVariant> copy_variants();
/// The widest of a kind, or the library's where the processor has none of that kind.
[[nodiscard]] const CopyVariant& copy_variant(Stores stores);
/// "string", "handing-back".
[[nodiscard]] std::string_view name_of(Stores stores);
/// The processor announces the string instruction as fast from small lengths on (FSRM).
[[nodiscard]] bool string_moves_are_fast();

}  // namespace sluice
