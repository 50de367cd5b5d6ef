// Rendezvous protocols over RDMA: who moves the data, and how each side learns that it is done. One class each, without state:
// that is in the request and its RdmaTransfer. What they have in common is in rdma_way.hpp.
//
//   rput     rts → ;  ← cts (address, key) ;  sender writes ;  fin →
//   getcqe   rts (address, key) → ;  receiver reads, until the adapter's completion ;  ← fin
//   get      rts (address, key, last byte) → ;  receiver reads, until the last byte is there ;  ← fin
//   rdrp     rts (address, key) with the first bytes → ;  receiver reads the rest in chunks, so many at a time ;  ← fin
//   putnr    ← rtr (address, key, last byte) ;  sender writes ;  fin → only if the message ends with that byte
//   put      the same, with a random last byte
//
// The last two are another matter, since the receiver speaks before it knows a message: receiver_initiated.hpp. Of the others,
// the sender does not choose: its announcement (rts) says what it offers, the receiver takes what it prefers of that, and either
// can fall back on `stream` (rendezvous/stream_way.hpp) as long as nothing was posted. After that, a transfer is completed by the
// adapter, or the connection is lost and the process with it.
//
//   receive:  matched → (rput) cts sent → (fin) done
//                                       → (refuse: the sender's memory cannot be registered) matched, by stream
//             matched → (others) reading: segments are posted as the limit and the queue permit → all complete → fin sent, done
//             matched → (own memory cannot be registered, or has gaps) by stream
//   send:     announced → (cts rdma_write) writing → all posted: fin sent → all complete: done
//             announced → (cts rdma_write, memory cannot be registered) refuse sent, announced
//             announced → (cts stream) streaming; the registration that was offered is given up at the end
//             announced → (fin) done
//
// Order. The fin of rput is committed after the last write was posted, and the queue keeps that order, so its arrival says that
// the data is there. The fin of the others is sent when the data has arrived, so the sender may reuse its buffer then.
//
// Everything here belongs to the engine lock.
#pragma once

#include "runtime/config/config.hpp"
#include "runtime/rendezvous/rdma_transfer.hpp"

namespace sluice {

class RdmaWay;

class RdmaProtocol {
 public:
  [[nodiscard]] virtual Rendezvous kind() const = 0;
  /// The receiver, once the message is matched (putnr, put: the receive is posted) and its own memory is registered.
  virtual void begin(RdmaWay& way, Request& receive) const = 0;
  /// The sender, once it is cleared and its own memory is registered.
  virtual void cleared(RdmaWay& /*way*/, Request& /*send*/) const {}
  /// Everything is posted.
  virtual void all_posted(RdmaWay& /*way*/, Request& /*request*/) const {}
  /// Everything is posted and complete.
  virtual void all_complete(RdmaWay& way, Request& request) const = 0;

 protected:
  ~RdmaProtocol() = default;
};

namespace rdma_protocols {
const RdmaProtocol& rput();
const RdmaProtocol& getcqe();
const RdmaProtocol& get();
const RdmaProtocol& rdrp();
const RdmaProtocol& putnr();
const RdmaProtocol& put();
}  // namespace rdma_protocols

/// Those of which the receiver chooses one when a message is matched. RdmaWay is given them, so that it calls no protocol by
/// name.
struct MatchedProtocols {
  const RdmaProtocol& rput = rdma_protocols::rput();
  const RdmaProtocol& getcqe = rdma_protocols::getcqe();
  const RdmaProtocol& get = rdma_protocols::get();
  const RdmaProtocol& rdrp = rdma_protocols::rdrp();
};

}  // namespace sluice
