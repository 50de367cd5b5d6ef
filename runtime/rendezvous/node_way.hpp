// Large messages by single copies inside a node: the sender writes (rput), the receiver reads (rget), or both (coop, coop-hca).
// Which side copies, CopierChoice says; whether it can, is seen here.
//
//   write   (rput)  rts → ;  ← cts ;  sender stores into the receiver's alias block, reporting progress ;  fin →
//                   or into its memory at large (write_at), where the sender has said that it can and no page is a block
//           (coop)  the same, and the receiver reads chunks from the end meanwhile (write_delivery.hpp),
//                   and has the adapter read some (coop-hca, offload.hpp)
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
#include "runtime/rendezvous/node_parts.hpp"
#include "runtime/rendezvous/way.hpp"
#include "runtime/rendezvous/write_delivery.hpp"

namespace sluice {

class NodeWay final : public Way {
 public:
  explicit NodeWay(const NodeParts& parts);

  [[nodiscard]] Bid bid(const Request& receive, std::size_t coming) const override;
  bool begin(Request& receive, std::size_t coming) override;
  void refused(Request& receive, std::size_t offset) override { delivery_.refused(receive, offset); }
  [[nodiscard]] bool delivers(Delivery delivery) const override {
    return delivery == Delivery::write || delivery == Delivery::write_at;
  }
  void cleared(Request& send, const ClearToSend& clear) override;
  void leave(Request& send) override;
  [[nodiscard]] bool carries(const Request& request) const override {
    return request.way == Request::Way::write || request.way == Request::Way::read;
  }
  bool ended(Request& request) override;
  /// One chunk of the first copy; there is one.
  void work(Lock& lock);

  [[nodiscard]] const CopyList& list() const { return list_; }
  [[nodiscard]] const NodeCopies& copies() const { return copies_; }
  [[nodiscard]] NodeCopies& copies() { return copies_; }
  /// The receiver's part of `write` deliveries.
  [[nodiscard]] WriteDelivery& delivery() { return delivery_; }
  /// Receives that take part in the sender's copy.
  [[nodiscard]] const WorkList& helping() const { return delivery_.helping(); }
  /// ... and those in whose copy this side has taken part: the sender waits for the fin.
  [[nodiscard]] std::size_t shared_receives() const { return delivery_.shared_receives(); }
  [[nodiscard]] bool can_read_from(const Request& receive) const;

 private:
  [[nodiscard]] bool can_be_written(const Request& receive) const;
  [[nodiscard]] bool can_be_written_at(const Request& receive) const;
  [[nodiscard]] bool may_be_written_at(Request& receive, const CopyChoice& choice);
  [[nodiscard]] bool is_block(const Request& receive);
  bool begin_write(Request& receive, const CopyChoice& choice);
  void begin_read(Request& receive, const CopyChoice& choice);
  void tell_write(const Request& receive, const CopyChoice& choice);
  void write_chunk(Lock& lock, Request& send);
  void read_chunk(Lock& lock, Request& receive);
  std::size_t copy_from_self(Request& receive, std::size_t bytes);
  std::size_t read_into_gaps(Lock& lock, Request& receive, std::size_t bytes);

  const NodeParts parts_;
  CopyList list_;
  NodeCopies copies_;
  WriteDelivery delivery_;
};

}  // namespace sluice
