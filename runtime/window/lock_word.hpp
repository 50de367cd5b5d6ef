// A lock for many readers or one writer, in one word that processes of a node share. It waits for nobody: its user tries, and
// progresses meanwhile. Of a window each rank has two: that of MPI_Win_lock, and the one that accumulates to it hold.
//
//   bits 0 to 30    threads that hold it for reading
//   bit 31          a thread holds it for writing
//   bits 32 to 47   threads that wait to hold it
//   bits 48 to 63   those of them that wait to write
//
// Writer / reader / ordering: any thread of any member / likewise / to take it is an acquire, to give it up a release, so what
// was done under it is seen by its next holder. All changes are read-modify-write, hence sequentially consistent where it
// matters: who waits has said so (`begin_wait`) before it looks the last time and sleeps; who gives it up learns in the same step
// whether somebody waits, and only then looks whom to wake.
//
// Turns. Whoever wants to read lets waiting writers go first, for a while that its caller limits: readers that come all the time
// must not keep a writer out for ever. But a holder may be waiting for one that comes to read beside it, so the limit.
#pragma once

#include <atomic>
#include <cstdint>

namespace sluice {

class LockWord {
 public:
  enum class Use : std::uint8_t { shared, exclusive };
  enum class Turn : std::uint8_t { writers_first, any };

  explicit LockWord(std::atomic<std::uint64_t>& word) : word_(word) {}

  [[nodiscard]] bool is_free(Use use, Turn turn) const { return is_free(word_.load(std::memory_order_seq_cst), use, turn); }

  bool try_lock(Use use, Turn turn = Turn::writers_first) {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while (is_free(seen, use, turn)) {
      if (word_.compare_exchange_weak(seen, seen + held(use), std::memory_order_acquire, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  /// Whether somebody waits who may go on now.
  bool unlock(Use use) {
    const std::uint64_t left = word_.fetch_sub(held(use), std::memory_order_seq_cst) - held(use);
    return (left & holders) == 0 && (left & waiting_mask) != 0;
  }

  void begin_wait(Use use) { word_.fetch_add(waiting(use), std::memory_order_seq_cst); }
  void end_wait(Use use) { word_.fetch_sub(waiting(use), std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t one_reader = 1;
  static constexpr std::uint64_t writer = std::uint64_t{1} << 31;
  static constexpr std::uint64_t holders = (writer << 1) - 1;
  static constexpr std::uint64_t one_waiting = std::uint64_t{1} << 32;
  static constexpr std::uint64_t waiting_mask = std::uint64_t{0xFFFF} << 32;
  static constexpr std::uint64_t one_waiting_writer = std::uint64_t{1} << 48;

  static constexpr std::uint64_t held(Use use) { return use == Use::exclusive ? writer : one_reader; }
  static constexpr std::uint64_t waiting(Use use) { return one_waiting + (use == Use::exclusive ? one_waiting_writer : 0); }
  static constexpr bool is_free(std::uint64_t word, Use use, Turn turn) {
    if (use == Use::exclusive) return (word & holders) == 0;
    return (word & writer) == 0 && (turn == Turn::any || word < one_waiting_writer);
  }

  std::atomic<std::uint64_t>& word_;
};

}  // namespace sluice
