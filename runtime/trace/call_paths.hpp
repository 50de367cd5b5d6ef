// Call paths: which functions have called each other down to an MPI call (SLUICE_TRACE_PATHS). With them a wait inside a library
// is told under the line of the program that has called it, and not under that of the library alone.
//
// Unwinding takes microseconds, so a path is unwound once. A path that is known consists of return addresses and of where these
// lie on the stack, counted from the frame of the MPI function. A call with the same return address and the same frame is on that
// path if the same words lie there. One that is not is unwound, and becomes known.
//
//   StackWalk    unwinds, by libunwind
//   KnownPaths   tells from the stack whether a call is on a path that is known
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/posix.hpp"
#include "runtime/trace/format.hpp"

namespace sluice::trace {

/// Frames of Sluice's own above the one that is looked for, at most.
inline constexpr std::size_t max_own_frames = 24;

struct CallPath {
  struct Level {
    std::uintptr_t address = 0;  // a return address
    std::uintptr_t at = 0;       // the word of the stack that holds it
  };
  std::array<Level, max_frames> levels{};  // innermost first
  std::size_t depth = 0;

  [[nodiscard]] std::span<const Level> known() const { return std::span(levels).first(depth); }
};

/// libunwind's local-only interface. It is loaded when paths are asked for, so that nobody else has it in the process.
///
/// Its caller must be no fault handler, and must not hold the engine lock: it allocates, takes locks, and calls functions of the
/// C library that Sluice stands in front of.
class StackWalk {
 public:
  /// Empty, or why libunwind is not to be had. It has unwound once then, so that what it allocates at first is there.
  static std::string load();
  [[nodiscard]] static bool is_loaded();

  /// The callers from `return_address` outwards, which lies below `frame`. False: it is not on the stack of the caller.
  [[nodiscard]] static bool find(std::uintptr_t return_address, std::uintptr_t frame, std::size_t max_depth, CallPath& path);
};

/// A table that only grows. A path is known to the thread that has been on it only: the stack of another may end where this one
/// goes on, so that there would be nothing to compare.
///
/// An entry's key belongs to the thread that put it there (compare and exchange from 0); `site` is stored last (release), and
/// what is read after it (acquire) does not change any more. Nobody waits: an entry that is not finished is passed by. [any
/// thread]
class KnownPaths {
 public:
  static constexpr std::size_t capacity = 4096;

  /// Memory for all; its pages come into being when they are used. Throws std::system_error.
  KnownPaths();

  /// The site of the path that a call is on; 0: of none that is known.
  [[nodiscard]] std::uint32_t find(std::uintptr_t return_address, std::uintptr_t frame) const;
  /// `site` is not 0. Nothing happens where there is no room.
  void add(std::uintptr_t frame, const CallPath& path, std::uint32_t site);
  /// All of them. No other thread is here.
  void forget();

 private:
  struct Entry;
  static constexpr std::size_t max_probes = 32;

  [[nodiscard]] Entry* entries() const;

  Mapping memory_;
};

}  // namespace sluice::trace
