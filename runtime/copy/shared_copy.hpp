// Copies between this process's memory and memory that another processor reads next or wrote last: rings and peers' memory files.
//
// A plain store must fetch its line before it overwrites it, here from the other processor's cache. The string instruction
// announces that whole lines will be written, and saves that on some processors. glibc's memcpy uses it from 8 KB to about the
// size of a cache only. Between distant cores it may copy several times as fast, between near ones it makes no difference. Below
// 512 bytes its start-up is not won back.
//
// Other processors fetch the lines all the same, and only streaming stores do not; the other side then reads from memory. From
// which length on that pays is measured where the job runs: calibration.hpp. docs/results/shmem.md has figures.
//
// Order: copy_engine.hpp. What a copy wrote is visible before what the caller stores afterwards with release order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/copy/copy_engine.hpp"

namespace sluice {

namespace shared_copy {

inline constexpr std::size_t never = ~std::size_t{0};

struct Thresholds {
  std::size_t string_bytes = never;            // from this length on, copies into a ring are made by the string instruction
  Stores pieces = Stores::library;             // how pieces of large messages are copied into a peer's memory, and out of it, but
  std::size_t streaming_bytes = never;         // from this length on by streaming stores into a peer's memory,
  std::size_t streaming_read_bytes = never;    // and from this length on by streaming stores out of a peer's memory,
  std::size_t streaming_shared_bytes = never;  // or from this one on where the lines that are overwritten are in its cache, too
  std::size_t handing_back_bytes = never;      // from this length on, lines that the peer writes anew are handed back to it

  friend bool operator==(const Thresholds&, const Thresholds&) = default;
};

/// By what the processor announces, without any measurement.
[[nodiscard]] Thresholds cpuid_thresholds();
/// Before other threads copy.
void use(const Thresholds& thresholds);

// Written by `use` only, before there is a second thread that copies.
extern Thresholds in_force;

}  // namespace shared_copy

/// Into a ring.
inline void copy_to_shared(std::byte* target, const std::byte* source, std::size_t bytes) {
#ifdef __x86_64__
  if (bytes >= shared_copy::in_force.string_bytes) {
    asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
    return;
  }
#endif
  std::memcpy(target, source, bytes);
}

/// Whose cache has the lines of a receive buffer that a copy overwrites: nobody knows, its receiver's only, the peer's as well
/// that has read them (buffer_lines.hpp), or none that a processor has for itself: one that both share, as far as is known.
enum class TargetLines : std::uint8_t { unknown, own, shared, outer };

/// What becomes of the lines of the sender's memory that are read: they stay in the reader's cache, too, or are given back to the
/// sender's (copy_engine.hpp), which writes them again soon (source_history.hpp).
enum class SourceLines : std::uint8_t { kept, handed_back };

/// A piece of a large message into a peer's memory file, and out of it. Outer lines are never streamed past.
void copy_to_peer(std::byte* target, const std::byte* source, std::size_t bytes, TargetLines lines);
void copy_from_peer(std::byte* target, const std::byte* source, std::size_t bytes, TargetLines lines, SourceLines source_lines);

}  // namespace sluice
