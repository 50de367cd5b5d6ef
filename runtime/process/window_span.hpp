// Where windows of memory files lie: addresses that nothing else in the process is near, so that a file of terabytes can be
// mapped segment by segment, as its pages come into use, and every byte still has a fixed place.
//
// Address space that is only chosen costs nothing. Mapped address space counts against RLIMIT_AS, whether it is used or not, so a
// window is mapped in extents of 2 MB where it is used. The span is the middle half of the largest gap between the mappings that
// there were when the first window was made. The kernel puts mappings, and the heap, beside others, tens of terabytes away. A
// mapping that somebody has asked for inside the span is never replaced: the extent there cannot be mapped then.
//
// A process whose address space is limited (RLIMIT_AS, `ulimit -v`) gets no windows: what they would take is what the program was
// told that it may have, and malloc fails without a word to anybody.
//
// Threading: any thread. The ends of the span are written once, release, and read with acquire; a lock guards which places are
// taken, and is held over nothing that can fault.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice::window_span {

/// What a large page holds. Windows are aligned to it, so that file and address agree about where one begins.
inline constexpr std::size_t extent_bytes = std::size_t{2} << 20;

/// Addresses for a window of so many bytes, a multiple of extent_bytes; 0 when the span is used up. Maps nothing.
[[nodiscard]] std::uintptr_t take(std::size_t bytes);

/// Nothing is mapped there any more.
void give_back(std::uintptr_t place, std::size_t bytes);

/// Windows lie here and nothing else that the program knows of. [fault handler]
[[nodiscard]] bool contains(std::uintptr_t address);

/// Maps a part of `file` at `place`, readable and writable. False when the kernel refuses, something else is there, or the
/// address space is limited; errno says which.
[[nodiscard]] bool map(ByteRange place, int file, std::uint64_t offset);

/// So many bytes of address space are fewer than there are.
[[nodiscard]] bool is_a_limit(std::uint64_t bytes);
/// RLIMIT_AS is one.
[[nodiscard]] bool address_space_is_limited();

}  // namespace sluice::window_span
