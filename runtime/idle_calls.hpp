// Calls that test and find nothing. A program may wait in a loop around MPI_Test or MPI_Iprobe, so now and then one of them lets
// others go on: the host, which progresses in calls only, and peers that wait for what this process has left undone.
//
// Threading: `note` belongs to the engine lock, `note_at_rest` to any thread without it. Two threads that count at once may lose
// a count, or make a turn come a few calls earlier or later.
#pragma once

#include <atomic>
#include <bit>

namespace sluice {

class IdleCalls {
 public:
  /// Calls for each in which it is somebody's turn. The host's: while it surely has work, and otherwise.
  static constexpr unsigned telling = 64;
  static constexpr unsigned host_busy = 16;
  static constexpr unsigned host_idle = 1024;

  struct Turns {
    bool telling = false;
    bool host = false;
  };

  /// One more; whose turn it is.
  Turns note(bool host_is_busy) {
    const unsigned count = next();
    count_.store(count, std::memory_order_relaxed);
    turns_.store(host_is_busy ? host_busy : telling, std::memory_order_relaxed);
    return {count % telling == 0, count % (host_is_busy ? host_busy : host_idle) == 0};
  }

  /// One more, unless it is somebody's turn, as far as was known at the last `note`: then nothing is counted.
  bool note_at_rest() {
    const unsigned count = next();
    if ((count & (turns_.load(std::memory_order_relaxed) - 1)) == 0) return false;
    count_.store(count, std::memory_order_relaxed);
    return true;
  }

 private:
  static_assert(std::has_single_bit(telling) && std::has_single_bit(host_busy));
  static_assert(host_idle % telling == 0 && telling % host_busy == 0);

  [[nodiscard]] unsigned next() const { return count_.load(std::memory_order_relaxed) + 1; }

  std::atomic<unsigned> count_{0};
  std::atomic<unsigned> turns_{1};  // that is looked at in so many calls
};

}  // namespace sluice
