// Large messages by single copies inside a node: the sender writes (rput), the receiver reads (rget), or both (coop, coop-hca).
// Which side copies, CopierChoice says; whether it can, is seen here.
//
//   write   (rput)  rts → ;  ← cts ;  sender stores into the receiver's alias block, reporting progress ;  fin →
//           (coop)  the same, and the receiver reads chunks from the end meanwhile (write_delivery.hpp),
//                   and has the adapter read some (coop-hca, offload.cpp)
//   read    (rget)  rts → ;  receiver reads the sender's memory ;  ← fin
//
// A way that fails in the middle leaves `offset` at the first missing byte, and the next way goes on from there: the sender of a
// `write` answers with refuse(offset), a failed reader just asks for the rest as a stream. Each is tried once, in this order.
//
//   send:     announced → (cts write) copying → done | awaiting fin → done | (refuse) announced
//             announced → (fin) done
//   receive:  matched → write → (fin) done | (refuse) matched
//             matched → read → done | matched
//
// Owns the copies that this process has still to make, and the order in which they are made: a chunk at a time, outside the
// engine lock, by whichever thread progresses. Request::copying marks the owner.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/rendezvous/copy_list.hpp"
#include "runtime/rendezvous/node_copies.hpp"
#include "runtime/rendezvous/node_host.hpp"
#include "runtime/rendezvous/write_delivery.hpp"

namespace sluice {

class NodeWay {
 public:
  struct Parts {
    Peer self{};
    std::size_t job_size;
    std::size_t chunk_bytes;  // a copy is cut into no longer ones
    NodeMemory* memory;       // nullptr in a job of one process, like the next
    NodeHints* hints;
    const AliasArena* arena;  // nullptr: no blocks
    MessageLines& lines;
    EngineStatistics& statistics;
    CopierChoice& copiers;
    ChunkReader& adapter;
  };
  NodeWay(NodeHost& host, const Parts& parts);

  /// The receiver, when its message is matched. False: it has to go another way.
  bool begin(Request& receive);
  /// The sender has been asked to write.
  void cleared(Request& send, const ClearToSend& clear);
  /// It is asked to send another way.
  void leave(Request& send);
  /// The other side has done its part. False: it does not go this way (any more).
  bool ended(Request& request);
  /// The sender cannot write (any more).
  void refused(Request& receive, std::size_t offset) { delivery_.refused(receive, offset); }
  /// One chunk of the first copy; there is one.
  void work(Lock& lock);

  [[nodiscard]] const CopyList& list() const { return list_; }
  [[nodiscard]] const NodeCopies& copies() const { return copies_; }
  /// The receiver's part of `write` deliveries.
  [[nodiscard]] WriteDelivery& delivery() { return delivery_; }
  [[nodiscard]] bool can_read_from(const Request& receive) const;

 private:
  bool begin_write(Request& receive, const CopyChoice& choice);
  void begin_read(Request& receive, const CopyChoice& choice);
  void tell_write(const Request& receive, const CopyChoice& choice);
  void write_chunk(Lock& lock, Request& send);
  void read_chunk(Lock& lock, Request& receive);
  std::size_t copy_from_self(Request& receive, std::size_t bytes);
  std::size_t read_into_gaps(Lock& lock, Request& receive, std::size_t bytes);

  NodeHost& host_;
  const Parts parts_;
  CopyList list_;
  NodeCopies copies_;
  WriteDelivery delivery_;
};

}  // namespace sluice
