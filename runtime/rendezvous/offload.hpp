// COOP-hca (CO, sections II-A2 and II-B3): a third one takes part in a `write` delivery, the RDMA adapter of the node. The
// receiver claims chunks for it from the back, as it does for itself (chunk_claims.hpp), and posts a read for each: out of the
// sender's registered block, through the adapter and back, into its own. The paper cuts a message once, by R = bandwidth(adapter)
// / bandwidth(processor), which somebody must have measured. Claims need no ratio: an adapter that is faster claims more often,
// and one that has much else to do less often.
//
//   sender      rts (flag_block, flag_registered, registered_address, key) → ; the rest is coop's
//   receiver    posts up to SLUICE_HCA_OUTSTANDING reads, each of one claimed chunk
//               → a read is complete: claims and posts the next one
//               → nothing is left to claim, and none is under way: its part is over (WriteDelivery::adapter_rests: FIN)
//               → a read has failed: its chunk becomes a hole; no more reads for this message
//                 → none is under way: as after a read of its own that was refused, but the processors bring the hole, by a
//                   `write` delivery of it alone
//
// Load. Every process says how many transfers of large messages its adapter has under way, to peers on the node and beyond
// (NodeHints::note_adapter_work). The receiver adds these up; with SLUICE_HCA_LOAD of them it claims nothing for the adapter. It
// looks before each claim, so a message that began alone leaves the adapter to others that come.
//
// What is offloaded. Messages of SLUICE_HCA_BYTES or more, between two alias blocks, as these are registered once and stay so,
// and their aliases may be read and written while the application's pages are under guard. Everything else goes as coop does:
// no adapter, memory that cannot be registered, a connection that is still being made. A connection that has failed is not made
// again.
//
// Of RdmaTransfer, the memory, the segments and their number are used: a segment is a chunk, in the order of the claims.
//
// The sender's buffer is the sender's to give back only after the receiver's FIN, and that comes after the last read: whoever has
// claimed a chunk owes a FIN, and the sender waits for it.
//
// Owns nothing but its collaborators: what is under way is in the request. Belongs to the engine lock.
#pragma once

#include <cstdint>

#include "runtime/config/config.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/rendezvous/node_parts.hpp"
#include "runtime/rendezvous/rdma_transfers.hpp"
#include "runtime/rendezvous/rdma_way.hpp"
#include "runtime/rendezvous/write_delivery.hpp"
#include "runtime/transport/node_hints.hpp"
#include "runtime/transport/node_memory.hpp"
#include "runtime/transport/rdma.hpp"

namespace sluice {

class Offload final : public ChunkReader, public RdmaUser {
 public:
  struct Parts {
    const Config& config;
    NodeMemory* memory;  // nullptr in a job of one process, like the next two
    NodeHints* hints;
    Adapters* adapters;
    RdmaTransfers& transfers;
    RdmaWay& memories;  // registers buffers
    WriteDelivery& delivery;
    EngineStatistics& statistics;
  };
  explicit Offload(const Parts& parts) : parts_(parts) {}

  /// Into the announcement of a block: where the adapter finds it.
  void offer(Request& send, WireHeader& header, ReadyToSend& rts);
  [[nodiscard]] bool joins(Request& receive) override;
  void claim(Request& receive) override;
  void segment_complete(Request& receive, const RdmaSegment& segment) override;
  /// A read that was posted here will not be completed.
  void failed(std::uint64_t token);

 private:
  bool claim_one(Request& receive);

  const Parts parts_;
};

}  // namespace sluice
