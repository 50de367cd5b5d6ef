// A way of a large message from the sender's buffer to the receiver's. The receiver chooses among those that bid for it when it
// has met its receive (ways.hpp); a new way is one class, and one line where the engine lists them.
//
// A way that fails in the middle leaves Request::offset at the first byte that is missing, and hands the receive over to the
// next one, for what is left. Request::way says which one has it; each is tried at most once for a message.
//
// What a way does by and by has no place here: what streams and adapters have to move goes with every look for messages, copies
// only when all messages that are there have been taken, so whoever progresses calls each by its name.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/engine/request.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {

/// The request of the other side, and the part of the message that it asks for: of a send that was cleared, by whichever way.
inline void note_clearance(Request& send, const ClearToSend& clear) {
  send.remote_request = clear.receiver_request;
  send.remote_address = clear.remote_address;
  send.offset = clear.offset;
  send.limit = clear.limit;
  send.progress_slot = clear.progress_slot;
}

/// What a way would take. Why it was taken, it tells the trace itself when it begins: some of that shows only then.
struct Bid {
  static constexpr std::uint32_t impossible = ~std::uint32_t{0};

  /// How often each byte that is missing is to be moved; what asks for least is taken.
  std::uint32_t moves = impossible;
};

class Way {
 public:
  // --- the receiver
  /// `coming`: bytes behind `offset` that came with the announcement and are still to be delivered.
  [[nodiscard]] virtual Bid bid(const Request& receive, std::size_t coming) const = 0;
  /// False: it cannot after all, and nothing was done.
  virtual bool begin(Request& receive, std::size_t coming) = 0;
  /// The sender cannot go on from `offset`. Only of ways in which senders write.
  virtual void refused(Request& /*receive*/, std::size_t /*offset*/) {}

  // --- the sender
  /// It is what a clearance calls so.
  [[nodiscard]] virtual bool delivers(Delivery delivery) const = 0;
  virtual void cleared(Request& send, const ClearToSend& clear) = 0;
  /// It is cleared for another one, or again, while it waits to be copied.
  virtual void leave(Request& /*send*/) {}

  // --- both
  /// It has the message now.
  [[nodiscard]] virtual bool carries(const Request& request) const = 0;
  /// The other side has done its part of a message that this one carries. False: that was all, the message is where it belongs.
  virtual bool ended(Request& /*request*/) { return false; }

 protected:
  ~Way() = default;
};

}  // namespace sluice
