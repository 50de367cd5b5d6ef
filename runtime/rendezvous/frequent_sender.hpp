// Small messages straight from the program's memory (FB, sections 3.1 and 3.3): which, and how they leave. frequent_sends.hpp has
// the rule; the transport gathers header and payload, by either of its paths.
//
// Such a send is over when the adapter has read the memory, not when its call returns: a request of MPI_Isend is complete
// then, and MPI_Send would wait for it, a round trip of the network. So by default only nonblocking sends go this way
// (SLUICE_FREQUENT_SENDS). Nobody is woken for that end while the program computes.
//
//   counted → (frequent, memory registered, room) gathered → (the adapter has read it) complete
//           → (anything else)                     copied into a send slot, complete
//
// The order of messages is that of any other: this only changes where the payload lies.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/memory_users.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/registration/frequent_sends.hpp"
#include "runtime/registration/job_registrations.hpp"
#include "runtime/rendezvous/rdma_transfers.hpp"

namespace sluice {

class FrequentSender final : public RdmaUser {
 public:
  struct Parts {
    const Job& job;
    Requests& requests;
    AliasBlocks& blocks;
    const MemoryUsers& users;
    JobRegistrations& registrations;
    RdmaTransfers& transfers;
    EngineStatistics& statistics;
  };
  /// Idle where no adapter reaches anybody.
  explicit FrequentSender(const Parts& parts);

  /// Messages of that length are counted.
  [[nodiscard]] bool counts(std::size_t bytes) const { return table_ && bytes >= table_->least_bytes(); }
  /// The message is counted; whether its buffer is used often enough to be registered.
  [[nodiscard]] bool is_frequent(Peer to, const std::byte* data, std::size_t bytes) {
    return counts(bytes) && count(to, ByteRange::of(data, bytes));
  }
  /// One more message from there; whether its buffer is used often enough to be registered.
  [[nodiscard]] bool count(Peer to, ByteRange message);
  /// False: it has to be copied; nothing was done.
  bool send(Request& send, const MessageHeader& header);
  /// Sends that an adapter has still to read.
  [[nodiscard]] const std::size_t& under_way() const { return under_way_; }

  void piece_complete(Request& request, const RdmaPiece& piece) override;

 private:
  [[nodiscard]] Rdma* adapter_for(Peer peer) const {
    return peer == parts_.job.self ? nullptr : parts_.job.transport->rdma(peer);
  }
  [[nodiscard]] bool reaches_anybody() const;
  FrequentTerms measure_terms(Rdma& adapter);

  const Parts parts_;
  std::unique_ptr<FrequentSends> table_;
  Mapping probe_;
  std::size_t under_way_ = 0;
};

}  // namespace sluice
