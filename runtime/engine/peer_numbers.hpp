// What is counted of the matching between this process and one peer. There is one for every peer of the job, most of them idle.
// What putnr and put keep of a peer besides: rendezvous/put_sender.hpp, rendezvous/put_receiver.hpp.
//
// Belongs to the engine lock.
#pragma once

#include <cstdint>

namespace sluice {

struct PeerNumbers {
  std::uint64_t sent = 0;     // eager and rts messages, to the peer
  std::uint64_t arrived = 0;  // ... and of the peer
  std::uint16_t rtrs = 0;     // of the peer, that have come
  bool keeps = false;         // a send waits in the queue, or a receive of the peer's may be written to; written by PutSender

  /// Messages go out as they come.
  [[nodiscard]] bool plain() const { return !keeps; }
};

}  // namespace sluice
