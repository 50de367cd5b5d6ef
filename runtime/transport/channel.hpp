// Messages between processes: one channel serves every peer that its transport reaches.
//
// Owns the order: messages committed to one peer are delivered to it in that order. There is no order between peers.
//
// Threading: every function is called with the engine lock held, unless it is marked [any thread]; so an implementation has one
// producer and one consumer at a time and needs no lock of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/types.hpp"
#include "runtime/transport/message.hpp"
#include "runtime/transport/message_sink.hpp"

namespace sluice {

class Channel {
 public:
  /// Largest payload of one message to this peer, in bytes.
  [[nodiscard]] virtual std::size_t max_payload(Peer peer) const = 0;

  /// Room for a payload, to be filled before `commit`; nullptr when there is no room now (on_room follows).
  /// A reserve that succeeded is always followed by exactly one commit before any other call.
  virtual std::byte* reserve(Peer to, std::size_t payload_bytes) = 0;
  virtual void commit(Peer to, const WireHeader& header) = 0;

  /// Whether `data` messages go to the peer by `stream`, straight out of the sender's memory, and what is announced brings its
  /// first bytes along.
  [[nodiscard]] virtual bool streams_directly(Peer /*peer*/) const { return false; }
  /// Sends the next bytes of what the peer knows as `subject`, as many as there is room for, and returns how many; they may be
  /// changed afterwards. When that is not all, on_room follows. Calls for one subject go on until it is through.
  virtual std::size_t stream(Peer /*to*/, std::uint64_t /*subject*/, std::span<const std::byte> /*next*/) { return 0; }
  /// A whole message without a copy in between: payload is `prefix`, then `bytes`. False when there is no room at once; nothing
  /// was done then.
  virtual bool send(Peer /*to*/, const WireHeader& /*header*/, std::span<const std::byte> /*prefix*/,
                    std::span<const std::byte> /*bytes*/) {
    return false;
  }
  /// Something that was committed has not left this process yet: somebody must poll on. [engine lock]
  [[nodiscard]] bool holds_output() const { return holds_output_; }
  /// Messages up to this size need no asking with this peer, whatever the general limit is. 0: the general limit holds.
  [[nodiscard]] virtual std::size_t eager_limit(Peer /*peer*/) const { return 0; }

  /// Delivers what has arrived, a bounded number of messages per call. Returns how many.
  virtual int poll(MessageSink& sink) = 0;
  /// Between two polls nothing has to be done but to look whether something came, and `is_silent` tells of all that may come.
  [[nodiscard]] virtual bool is_at_rest() const { return false; }
  /// [any thread, lock not held] When `is_at_rest` was true after the last poll: a poll now would find nothing. What comes at
  /// this moment is seen by the next look.
  [[nodiscard]] virtual bool is_silent() const { return false; }
  /// True when a poll now would deliver something.
  [[nodiscard]] virtual bool pending() const = 0;

  /// This process ends the job. Peers are told, where that takes no waiting, so that they do not take it for vanished.
  virtual void say_goodbye() {}

  /// First peer found to have gone without leaving the job properly; -1 when there is none. [any thread]
  [[nodiscard]] virtual Peer vanished() const = 0;
  /// Why that peer counts as gone. [any thread, once `vanished` has named one]
  [[nodiscard]] virtual const char* cause() const { return "its process ended without MPI_Finalize"; }

 protected:
  ~Channel() = default;

  bool holds_output_ = false;
};

}  // namespace sluice
