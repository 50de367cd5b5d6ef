// The words of one rank of a window that all its members share: in memory that every member has mapped, all zeros at first.
//
//   word         writer, reader / ordering, and why it is enough
//   lock         any member that locks this rank: lock_word.hpp
//   accumulate   any member that accumulates to this rank's memory, likewise
//   arrivals     this rank, in its n-th fence (n) / all members, until it is n / release, acquire: what it did to any member's
//                memory, and to its own, is done before. One writer, and it only grows
//   posted       one for each target: that target, in its n-th MPI_Win_post for this rank (n) / this rank, in its n-th
//                MPI_Win_start for that target / release, acquire: the target's own stores are done before
//   completed    one for each origin: that origin, in its n-th MPI_Win_complete for this rank (n) / this rank, in the
//   MPI_Win_wait
//                that ends its n-th exposure to that origin / release, acquire: what the origin did here is done before
//
// Waking: who waits for a word sleeps as any call does (waits.hpp). Who has written it looks whether its readers sleep.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"
#include "runtime/window/lock_word.hpp"

namespace sluice {

class WindowControl {
 public:
  [[nodiscard]] static constexpr std::size_t bytes(std::size_t members) { return pairs_at + members * pair_bytes; }

  WindowControl() = default;
  /// Aligned to a cache line.
  explicit WindowControl(std::byte* memory) : memory_(memory) {}

  [[nodiscard]] LockWord lock() const { return LockWord(word(0)); }
  [[nodiscard]] LockWord accumulate_lock() const { return LockWord(word(cache_line)); }
  [[nodiscard]] std::atomic<std::uint64_t>& arrivals() const { return word(2 * cache_line); }
  [[nodiscard]] std::atomic<std::uint64_t>& posted(std::size_t target) const { return word(pairs_at + target * pair_bytes); }
  [[nodiscard]] std::atomic<std::uint64_t>& completed(std::size_t origin) const {
    return word(pairs_at + origin * pair_bytes + sizeof(std::uint64_t));
  }

 private:
  static constexpr std::size_t pairs_at = 3 * cache_line;
  static constexpr std::size_t pair_bytes = 2 * sizeof(std::uint64_t);

  [[nodiscard]] std::atomic<std::uint64_t>& word(std::size_t at) const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(memory_ + at);
  }

  std::byte* memory_ = nullptr;
};

}  // namespace sluice
