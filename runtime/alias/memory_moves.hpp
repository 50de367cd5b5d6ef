// Whether pages are being replaced right now, for who is about to enter a call of the host's.
//
// Dekker with the count of such calls (interpose/host/host_activity.hpp): who enters counts first and looks here then; who
// replaces pages says so first and looks at the count then. Of the two, one sees the other.
#pragma once

#include <atomic>

namespace sluice {

namespace detail {
/// Written by who replaces pages, under the engine lock; read by threads that enter a call of the host's, without it. Seq_cst.
extern std::atomic<bool> memory_moves;
}  // namespace detail

/// Pages are being replaced while it lives. The engine lock is held.
class MemoryMoves {
 public:
  MemoryMoves() { detail::memory_moves.store(true, std::memory_order_seq_cst); }
  ~MemoryMoves() { detail::memory_moves.store(false, std::memory_order_release); }
  MemoryMoves(const MemoryMoves&) = delete;
  MemoryMoves& operator=(const MemoryMoves&) = delete;

  /// [any thread]
  [[nodiscard]] static bool any() { return detail::memory_moves.load(std::memory_order_seq_cst); }
};

}  // namespace sluice
