// A `write` delivery inside a node: the sender stores chunks into the receiver's alias block (rput), and the receiver may read
// chunks from the other end out of the sender's memory meanwhile (coop: COOP-p2p, CO section II-A1), until they meet
// (chunk_claims.hpp). An adapter may read for it (coop-hca, offload.hpp). The receiver takes part only while a thread of its
// application waits in a call; otherwise the delivery is a plain rput.
//
// Each side sends FIN when it has copied something, and waits for the other's FIN only if the other has. So:
//
//   sender:    copying → nothing left to claim → (the receiver claimed nothing) done
//                                              → (it did) awaiting fin → done | (cts stream for a hole) streaming → done
//   receiver:  helping → nothing left to claim → (the sender claimed nothing) done, FIN sent
//                                              → (it did) FIN sent, awaiting fin → done
//
// A FIN may come before the own part is done. A sender whose chunks are all taken before it looks (front = 0) may find the word
// already in another generation; it learns of the end by the receiver's FIN.
//
// A sender that computes may be asked to take part only if it comes into a call (flag_if_idle): its `cts` wakes nobody, and the
// receiver, which stays in its call until all is copied, leaves it what it has not claimed by then.
//
// Failures. The sender cannot write: it answers refuse(offset), the receiver closes the claims and fetches what lies between
// there and its own chunks another way. The receiver cannot read: it stops claiming, waits for the sender to be done with all
// others, and asks for the hole as a stream; its FIN is kept back until then.
//
// By address (Delivery::write_at) the sender's part goes into memory that is no block. From the `cts` to the sender's last chunk
// no page of it may become one: the kernel holds the pages that it writes to, and what came after their copy would be lost. So
// they are noted (MemoryUsers::peers_may_write) until the receive ends or is refused. Then the sender has no claim: its FIN or
// refusal is here, or the word is of another generation. The receive is not released meanwhile.
//
// With an adapter the receiver's part is two: chunks that it reads itself and chunks that it has the adapter read. It is done
// when both are.
//
// Owns the receives that take part, in the order of their copies (copy_list.hpp), and how many have. It must not choose a way or
// a copier.
//
// Belongs to the engine lock, given up for copies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/rendezvous/copy_list.hpp"
#include "runtime/rendezvous/node_copies.hpp"
#include "runtime/rendezvous/node_parts.hpp"

namespace sluice {

class WriteDelivery {
 public:
  WriteDelivery(const NodeParts& parts, NodeCopies& copies) : parts_(parts), copies_(copies) {}

  // --- the receiver

  /// False: no progress slot is free, and nothing was done.
  bool begin(Request& receive);
  /// Cuts the message into chunks, and says so. `takes_part`: the receiver wants to.
  void open_chunks(Request& receive, ClearToSend& clear, bool takes_part);
  /// The next chunk of the first receive that takes part; there is one.
  void help(Lock& lock);
  [[nodiscard]] const WorkList& helping() const { return helping_; }
  /// The sender's FIN.
  void sender_done(Request& receive);
  /// It cannot go on from `offset`.
  void refused(Request& receive, std::size_t offset);
  [[nodiscard]] std::size_t missing_bytes(const Request& receive) const;
  /// Of open receives, those in whose copy this side has taken part: their senders wait for the fin.
  [[nodiscard]] std::size_t& shared_receives() { return shared_receives_; }
  [[nodiscard]] std::size_t shared_receives() const { return shared_receives_; }

  /// Nobody writes for it any more. Gives back its progress slot, which it has.
  void close(Request& receive);

  // --- of its adapter (ChunkReader)

  /// A chunk is claimed for this side.
  void count_own_chunk(Request& receive);
  /// No chunk is under way with the adapter any more, for now at least.
  void adapter_rests(Request& receive);

  // --- the sender

  void join(Request& send, const ClearToSend& clear);
  /// The next chunk. True: there may be more.
  bool write_chunk(Lock& lock, Request& send);
  /// The receiver's FIN. `is_waiting`: for its next chunk, but whoever is done has found every one claimed.
  void receiver_done(Request& send, bool is_waiting);

 private:
  void own_part_written(Request& send);
  [[nodiscard]] bool claim_for_writing(const Request& send) const;
  [[nodiscard]] bool all_claimed(const Request& send) const;
  void read_own_chunk(Lock& lock, Request& receive);
  void own_part_read(Request& receive, std::uint32_t front);
  void finish_shared(Request& receive, std::uint64_t at_ns = 0);
  void after_refusal(Request& receive);
  void note_own_chunk(const Request& receive) const;
  void send_fin(const Request& request, std::uint8_t flags);

  const NodeParts parts_;
  NodeCopies& copies_;
  WorkList helping_;
  std::size_t shared_receives_ = 0;
};

/// What the fin of a receiver says of the lines that it has read.
[[nodiscard]] std::uint8_t fin_flags(const Request& receive);

}  // namespace sluice
