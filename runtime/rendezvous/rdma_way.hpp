// Large messages that adapters move, between processes that one joins: what the protocols of rdma_protocol.hpp have in common.
// States and messages are described there; the messages that are announced by their receivers (putnr, put) use this, too, and
// are in receiver_initiated.hpp.
//
// Owns what waits for room in an adapter's queue, the receives whose last byte is looked at, and the sentinels. It matches
// nothing.
//
// Memory. A buffer that is an alias block (with its first use it becomes one, or its second, see BufferHistory) is registered at
// its alias, so that its pages may come under guard while data arrives, and any other at the application's own address. Such a
// buffer is not released early (an adapter that writes cannot be told to take another address), and its pages do not become
// blocks meanwhile (RegistrationWatcher::pins).
//
// Room. A queue that is full takes nothing more for that peer until on_room. A read window that is full takes no read until one
// is over (bounded_reads.hpp). The requests that have something to post wait in `posting_`, in the order in which they began;
// with a read window they take turns.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/config/config.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/match_trace.hpp"
#include "runtime/engine/memory_users.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/registration/job_registrations.hpp"
#include "runtime/rendezvous/bounded_reads.hpp"
#include "runtime/rendezvous/copy_list.hpp"
#include "runtime/rendezvous/rdma_protocol.hpp"
#include "runtime/rendezvous/rdma_sentinels.hpp"
#include "runtime/rendezvous/rdma_transfers.hpp"
#include "runtime/rendezvous/unasked.hpp"
#include "runtime/rendezvous/way.hpp"
#include "runtime/rendezvous/ways.hpp"

namespace sluice {

class RdmaWay final : public Way, public RdmaUser {
 public:
  /// Who writes to receives that were announced (put_sender.hpp).
  class Writer {
   public:
    /// A write to such a receive is posted whole.
    virtual void posted(Request& send) = 0;

   protected:
    ~Writer() = default;
  };
  struct Parts {
    const Job& job;
    JobRegistrations& registrations;
    RdmaTransfers& transfers;
    EngineStatistics& statistics;
    AliasBlocks& blocks;
    const MemoryUsers& users;
    Outbox& outbox;
    Requests& requests;
    MatchTrace& matches;
    Ways& ways;
    Unasked& unasked;
    MatchedProtocols protocols{};
  };
  explicit RdmaWay(const Parts& parts);
  void set_writer(Writer& writer) { writer_ = &writer; }

  // --- as of any way
  [[nodiscard]] Rdma* adapter_for(Peer peer) const {
    return peer == parts_.job.self ? nullptr : parts_.job.transport->rdma(peer);
  }
  /// Into the announcement of a large message: whether and where an adapter may take it.
  void offer(Request& send, WireHeader& header, ReadyToSend& rts);
  [[nodiscard]] Bid bid(const Request& receive, std::size_t coming) const override;
  bool begin(Request& receive, std::size_t coming) override;
  void refused(Request& receive, std::size_t offset) override;
  [[nodiscard]] bool delivers(Delivery delivery) const override { return delivery == Delivery::rdma_write; }
  void cleared(Request& send, const ClearToSend& clear) override;
  [[nodiscard]] bool carries(const Request& request) const override { return request.way == Request::Way::rdma; }
  /// Posts what there is room for, and looks at last bytes. Whether anything moved.
  bool work() {
    bool moved = false;
    if (!posting_.empty()) moved = push_posting();
    if (!polled_.empty()) moved |= poll_last_bytes();
    return moved;
  }
  void on_room() { posting_waits_ = false; }
  /// Something is to be posted, or looked at, by whoever works.
  [[nodiscard]] bool has_work() const { return !posting_.empty() || !polled_.empty(); }
  /// ... and there may be room for it.
  [[nodiscard]] bool has_room() const { return !posting_.empty() && !posting_waits_; }
  /// Those under the read window. Who looks for completions tells them.
  [[nodiscard]] BoundedReads& reads() { return reads_; }

  /// The request's memory, registered for as long as the request needs it. False when that cannot be had.
  bool register_buffer(Request& request, std::size_t bytes, Rdma& adapter);
  /// A registered message is written there.
  void write_by(const RdmaProtocol& protocol, Request& send, RemoteMemory target);
  /// The message is read in chunks, of which the announcement brings the first.
  [[nodiscard]] bool prefers_chunks(std::size_t bytes) const;
  [[nodiscard]] RdmaSentinels& sentinels() { return sentinels_; }

  // --- of the protocols
  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] Writer& writer() { return *writer_; }
  /// What is missing, in segments of that length, at most so many at a time.
  void read(Request& receive, std::size_t bytes_each, std::size_t max_outstanding);
  void conclude_read(Request& receive);
  /// What is wanted.
  void write(Request& send);
  void watch_last_byte(Request& receive) { polled_.push_back(&receive); }
  void forget_last_byte(Request& receive);

 private:
  void segment_complete(Request& request, const RdmaSegment& segment) override;
  void segment_over(const RdmaSegment& segment) override;
  [[nodiscard]] const RdmaProtocol& choose_protocol(const Request& receive, const Rdma& adapter) const;
  void note_choice(const Request& receive);
  void move(Request& request, std::size_t begin, std::size_t end);
  bool go_on_posting(Request& request);
  bool post_segments(RdmaTransfer& transfer);
  [[nodiscard]] bool post_next(RdmaTransfer& transfer);
  bool push_posting();
  bool poll_last_bytes();

  const Parts parts_;
  Writer* writer_ = nullptr;
  RdmaSentinels sentinels_;
  BoundedReads reads_;
  // Every poll looks at these two.
  WorkList posting_;            // transfers that want room in their adapter's queue
  WorkList polled_;             // receives whose last byte is looked at
  bool posting_waits_ = false;  // none of `posting_` has room; on_room follows
};

}  // namespace sluice
