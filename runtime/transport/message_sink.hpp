// Who takes what a transport brings.
//
// Threading: called with the engine lock held, out of `Channel::poll`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/types.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {

/// Receives what `Channel::poll` finds. The payload is only valid during the call.
class MessageSink {
 public:
  virtual void on_message(Peer from, const WireHeader& header, std::span<const std::byte> payload) = 0;
  /// For transports that can put the bytes of a `data` message straight where they belong: the place of the next ones, at most
  /// `max_bytes`, valid until the sink or its owner is called again. Empty when there is no such place: then these bytes are to
  /// go through on_message, in as many messages as the transport likes.
  virtual std::span<std::byte> place(Peer /*from*/, const WireHeader& /*header*/, std::size_t /*max_bytes*/) { return {}; }
  /// The header of an eager message or an announcement and the first bytes of its payload (`head`) are there, the rest is still
  /// to come. When the sink wants the rest as if it were `data`: under this subject, and from this byte of the payload on.
  /// Otherwise (subject 0) all is to be handed over whole, by on_message; the sink may be asked again when there is more.
  struct Begun {
    std::uint64_t subject = 0;
    std::size_t data_at = 0;
  };
  virtual Begun begin(Peer /*from*/, const WireHeader& /*header*/, std::span<const std::byte> /*head*/) { return {}; }
  /// The first `bytes` of the last `place` are there.
  virtual void on_placed(Peer /*from*/, const WireHeader& /*header*/, std::size_t /*bytes*/) {}
  /// The RDMA write or read that was posted with this token is complete.
  virtual void on_transferred(std::uint64_t /*token*/) {}
  /// A read that was posted by `Adapters::loopback` will not be completed: nothing of it is being placed any more, and what is
  /// there of it is not known.
  virtual void on_transfer_failed(std::uint64_t /*token*/) {}
  /// A peer that asked for room (a failed reserve) can try again.
  virtual void on_room(Peer peer) = 0;

  /// After a message: whether the poll shall hand over the next one of that peer, too, if it is there.
  [[nodiscard]] virtual bool takes_another() const { return false; }

 protected:
  ~MessageSink() = default;
};

}  // namespace sluice
