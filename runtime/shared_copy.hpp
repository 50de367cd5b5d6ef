// Copies into memory that another processor reads next: rings and peers' memory files.
//
// A plain store must fetch its line before it overwrites it, here from the other processor's cache. The string instruction
// announces that whole lines will be written, and saves that. glibc's memcpy uses it from 8 KB to about the size of a cache only.
// Between distant cores of a Zen 5 (tests/bench/ring_bench.cpp): a 1 KB message 345 ns instead of 420, a stream of them 215
// instead of 365; copies of 1 MB 38 GB/s instead of 11, of 4 MB 27 instead of 15. Between near cores there is no difference.
// Below 512 bytes its start-up of about 10 ns is not won back.
#pragma once

#include <cpuid.h>

#include <cstddef>
#include <cstring>

namespace sluice {

namespace shared_copy {

inline constexpr std::size_t least_string_bytes = 512;

/// The processor announces "fast short rep movsb" (FSRM).
inline bool string_moves_are_fast() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned fsrm = 1u << 4;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & fsrm) != 0;
}

inline const bool use_string_moves = string_moves_are_fast();

}  // namespace shared_copy

inline void copy_to_shared(std::byte* target, const std::byte* source, std::size_t bytes) {
  if (bytes < shared_copy::least_string_bytes || !shared_copy::use_string_moves) {
    std::memcpy(target, source, bytes);
    return;
  }
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
}

}  // namespace sluice
