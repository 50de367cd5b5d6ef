// Announcements of large messages (rts): what they offer to the receiver, and which first bytes they bring along.
//
// Owns, by peer, how much announcements over a stream may bring (announcement_budget.hpp). It chooses no way: the receiver does
// (ways.hpp), of what is offered. Whose turn it is others decide.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/memory_users.hpp"
#include "runtime/engine/message_lines.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/small_sends.hpp"
#include "runtime/policy/announcement_budget.hpp"
#include "runtime/rendezvous/offload.hpp"
#include "runtime/rendezvous/rdma_way.hpp"

namespace sluice {

class RtsSender {
 public:
  struct Parts {
    const Job& job;
    Outbox& outbox;
    Requests& requests;
    SmallSends& small_sends;  // numbers messages
    AliasBlocks& blocks;
    const MemoryUsers& users;
    MessageLines& lines;
    RdmaWay& rdma_way;
    Offload& offload;
  };
  explicit RtsSender(const Parts& parts) : parts_(parts), budgets_(parts.job.size) {}

  /// It is the next message to its peer.
  void send(Request& send);
  /// The message is an alias block, or has become one now, that its receiver may read.
  [[nodiscard]] bool offers_block(const Request& send) {
    return send.peer != parts_.job.self && !send.has_gaps() && !send.owned && parts_.job.transport->can_read_blocks(send.peer) &&
           parts_.blocks.offer(ByteRange::of(send.data, send.bytes));
  }
  /// Something has come for an announced message.
  void note_answer(Request& send);

 private:
  void offer(Request& send, WireHeader& header, ReadyToSend& rts);
  std::size_t leave(Request& send, WireHeader header, const ReadyToSend& rts);

  const Parts parts_;
  std::vector<AnnouncementBudget> budgets_;  // by peer
};

}  // namespace sluice
