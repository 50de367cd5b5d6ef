// What a process shares among all its connections: the adapter, one completion queue with its channel, the receive buffers,
// the send slots, and the words by which rings are opened and closed. Made before the ranks agree on verbs, so that a process
// that cannot have it (locked memory, too many peers for the adapter) makes the job choose another transport rather than fail.
//
// The completion queue has an entry for everything that could be complete at once, so it never overflows.
//
// Errors: std::runtime_error. Threading: engine lock, but for the construction.
#pragma once

#include "verbs/buffers.hpp"
#include "verbs/credits.hpp"
#include "verbs/device.hpp"
#include "verbs/eager_ring.hpp"
#include "verbs/send_queue.hpp"

namespace sluice {

class VerbsQueues {
 public:
  /// Messages that a peer may have on the way to this process.
  static constexpr std::uint32_t window = 32;
  static constexpr std::uint32_t send_slots = 64;
  static_assert(Credits::buffers(window) + eager_ring::slots < eager_ring::max_under_way);

  /// For connections with up to `peers` others, and with `node_peers` more for reads alone.
  VerbsQueues(VerbsDevice device, std::size_t peers, std::size_t node_peers = 0);
  VerbsQueues(const VerbsQueues&) = delete;
  VerbsQueues& operator=(const VerbsQueues&) = delete;

  [[nodiscard]] const VerbsDevice& device() const { return device_; }
  [[nodiscard]] ibv_comp_channel* channel() const { return channel_.get(); }
  [[nodiscard]] ibv_cq* completions() const { return completions_.get(); }
  [[nodiscard]] ReceiveBuffers& buffers() { return buffers_; }
  [[nodiscard]] SendSlots& slots() { return slots_; }
  /// Of the connection that was made as the so many-th, from 0 on.
  [[nodiscard]] RingWords& ring_words(std::size_t connection) {
    return reinterpret_cast<RingWords*>(ring_words_.start())[connection];
  }
  [[nodiscard]] const VerbsMemory& ring_words_memory() const { return ring_words_; }

 private:
  VerbsDevice device_;
  VerbsOwner<ibv_comp_channel> channel_;
  VerbsOwner<ibv_cq> completions_;
  ReceiveBuffers buffers_;
  SendSlots slots_;
  VerbsMemory ring_words_;
};

}  // namespace sluice
