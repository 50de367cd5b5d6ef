// Memory of each process that all processes of its node see, cut into lanes of one size. What lies in a lane,
// runtime/collective/lane.hpp says.
//
// What stands here is of a transport that shares no memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"
#include "runtime/transport/wake_mask.hpp"

namespace sluice {

class LaneMemory {
 public:
  static constexpr std::size_t lane_bytes = 114688;
  static constexpr std::uint32_t lanes_of_a_process = 128;

  /// [any thread] A lane of this process or of a peer on its node, as it is mapped here. Zeros at first. nullptr: not shared.
  [[nodiscard]] virtual std::byte* lane(Peer /*owner*/, std::uint32_t /*lane*/) const { return nullptr; }
  /// [any thread] What the peer asks for, to be read after something was published (seq_cst, shmem/wake_word.hpp); it stays where
  /// it is. nullptr: it need never be woken.
  [[nodiscard]] virtual const std::atomic<WakeMask>* wake_mask_of(Peer /*peer*/) const { return nullptr; }
  /// [engine lock] After something was published in a lane that a thread of the peer may wait for: it is woken if it sleeps. One
  /// that has just gone to sleep looks a second time (shmem/wake_word.hpp), so the publication needs no fence.
  virtual void wake_for_lane(Peer /*peer*/) {}

 protected:
  ~LaneMemory() = default;
};

}  // namespace sluice
