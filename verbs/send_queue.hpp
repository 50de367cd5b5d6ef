// The send queue of one queue pair: what was posted to it and is not known to be complete.
//
// Selective signalling. The adapter completes the requests of one queue in their order, so a completion entry for one of them
// stands for all before it. An entry is asked for
//   * when somebody wants to know (a transfer with a token);
//   * for every `signal_interval`-th request, so that the queue never fills up with requests of which nobody would be told;
//   * for every `slot_interval`-th that holds a send slot, and for each of them while slots are scarce: at most half of all
//     slots are held by requests without an entry, so the other half always comes back.
//
// Batches. `append` only builds the request; `flush` posts all that have been built, by one call.
//
// Threading: engine lock.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "verbs/buffers.hpp"

namespace sluice {

class SendQueue {
 public:
  static constexpr std::uint32_t depth = 64;
  /// Requests that are kept back for credit messages, which must not wait for those that wait for them, and for the two by
  /// which a ring is closed.
  static constexpr std::uint32_t kept_back = 6;
  /// Of transfers that are the transport's own.
  static constexpr std::uint64_t own_token = ~std::uint64_t{0};
  /// Sends carry this bit in their number, receive buffers do not.
  static constexpr std::uint64_t mark = std::uint64_t{1} << 63;

  struct Request {
    ibv_wr_opcode operation = IBV_WR_SEND;
    const std::byte* start = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t local_key = 0;
    std::uint64_t remote_address = 0;
    std::uint32_t remote_key = 0;
    std::uint32_t slot = SendSlots::none;
    std::uint64_t token = 0;
    bool is_inline = false;  // the adapter has its copy once it is posted, and the slot comes back then
    /// What the adapter gathers behind `start`: this, and then so many bytes more from behind `start`.
    std::span<const std::byte> sge_payload = {};
    std::uint32_t sge_key = 0;
    std::uint32_t tail_bytes = 0;
  };
  /// Of one request, in memory.
  static constexpr std::size_t max_segments = 3;
  /// What became complete, in order.
  struct Done {
    std::uint32_t slot = SendSlots::none;
    std::uint64_t token = 0;
    bool read = false;
  };

  void open(ibv_qp* queue_pair, SendSlots& slots) {
    queue_pair_ = queue_pair;
    slots_ = &slots;
  }
  [[nodiscard]] bool has_room() const { return posted_ - completed_ < depth - kept_back; }
  [[nodiscard]] bool has_room_for_credits() const { return posted_ - completed_ < depth; }
  [[nodiscard]] bool has_room_for_closing() const { return posted_ - completed_ + 2 <= depth; }
  [[nodiscard]] bool unflushed() const { return chained_ != 0; }

  /// There is room. 0, or the error number of a flush that became necessary.
  int append(const Request& request);
  int flush();

  /// The request of this number (wr_id) is complete, and so are those before it.
  template <class Told>
  void complete(std::uint64_t number, Told&& told) {
    const std::uint64_t end = (number & ~mark) + 1;
    if (end > posted_) return;
    for (; completed_ < end; ++completed_) told(records_[completed_ % depth]);
  }

  /// The queue pair is gone: none of its requests will be completed any more. Tells of each.
  template <class Told>
  void abandon(Told&& told) {
    chained_ = 0;
    while (completed_ < posted_) told(records_[completed_++ % depth]);
  }

 private:
  static constexpr std::uint32_t signal_interval = 16;
  static constexpr std::uint32_t slot_interval = 4;
  static constexpr std::size_t chain = 16;
  static_assert(signal_interval + kept_back < depth);

  ibv_qp* queue_pair_ = nullptr;
  SendSlots* slots_ = nullptr;
  std::array<Done, depth> records_{};
  std::uint64_t posted_ = 0;  // built, rather
  std::uint64_t completed_ = 0;
  std::uint32_t unsignalled_ = 0;
  std::uint32_t unsignalled_slots_ = 0;
  std::array<ibv_send_wr, chain> requests_{};
  std::array<std::array<ibv_sge, max_segments>, chain> segments_{};
  std::array<std::uint32_t, chain> inline_slots_{};
  std::size_t chained_ = 0;
};

}  // namespace sluice
