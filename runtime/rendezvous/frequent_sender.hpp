// Small messages straight from the program's memory (FB, sections 3.1 and 3.3): which, and how they leave. frequent_sends.hpp has
// the rule; the transport gathers header and payload, by either of its paths.
//
// Such a send is over when the adapter has read the memory, not when its call returns: a request of MPI_Isend is complete
// then, and MPI_Send would wait for it, a round trip of the network. So by default sends whose call waits for them go this way
// only where that was found to take less time than the copy (SLUICE_FREQUENT_SENDS). Nobody is woken for that end while the
// program computes.
//
// Whether the block is still there is asked of the kernel as the buffer becomes frequent. From then on calls that end memory tell
// (runtime/alias/watched_memory.hpp), and a buffer that has ended is counted anew. Where they do not come by Sluice, the kernel
// is asked for each message.
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
#include "runtime/engine/job.hpp"
#include "runtime/engine/memory_users.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/registration/frequent_probe.hpp"
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
  ~FrequentSender();
  FrequentSender(const FrequentSender&) = delete;
  FrequentSender& operator=(const FrequentSender&) = delete;

  using Call = FrequentSends::Call;
  /// What is known of a message as its call begins.
  struct Counted {
    FrequentSends::Number frequent = 0;  // its buffer is used often: not 0
    std::uint64_t timed_from = 0;        // its duration is wanted: not 0
  };

  /// One more message from there.
  [[nodiscard]] Counted count(Peer to, const std::byte* data, std::size_t bytes, Call call) {
    if (!table_ || bytes < table_->min_bytes(call)) return {};
    return count(to, ByteRange::of(data, bytes), call);
  }
  /// It was copied, which took so long; 0 when that is not known.
  void note_copied(const Counted& message, std::size_t bytes, std::uint64_t copy_ns);
  /// It was gathered.
  void note_gathered(const Counted& message, Call call);
  /// False: it has to be copied; nothing was done.
  bool send(Request& send, const WireHeader& header);
  /// Sends that an adapter has still to read.
  [[nodiscard]] const std::size_t& under_way() const { return under_way_; }

  /// nullptr where nothing is counted.
  [[nodiscard]] const FrequentSends* sends() const { return table_.get(); }

  void segment_complete(Request& request, const RdmaSegment& segment) override;

 private:
  [[nodiscard]] Rdma* adapter_for(Peer peer) const {
    return peer == parts_.job.self ? nullptr : parts_.job.transport->rdma(peer);
  }
  [[nodiscard]] bool reaches_anybody() const;
  [[nodiscard]] Counted count(Peer to, ByteRange message, Call call);
  [[nodiscard]] bool is_there(FrequentSends::Number buffer, ByteRange range);
  [[nodiscard]] RegisteredMemory registered(Rdma& adapter, ByteRange range);
  [[nodiscard]] RegisteredMemory make_registered(Rdma& adapter, FrequentSends::Number buffer, ByteRange range);
  void trace_terms();

  const Parts parts_;
  std::unique_ptr<FrequentSends> table_;
  FrequentProbe probe_;
  FrequentTerms traced_terms_[2];  // those that the trace knows, by Call
  std::size_t under_way_ = 0;
};

}  // namespace sluice
