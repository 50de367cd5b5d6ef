// What adapters have been told to move for this process, and what becomes of it: the pieces that are posted, and the transfers
// that outlive their requests. Every transfer goes through here: messages by RDMA (rdma_way.hpp), the chunks of coop-hca
// (offload.hpp), gathered eager messages (frequent_sender.hpp). What to post, and when, is theirs to say.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/rendezvous/rdma_transfer.hpp"
#include "runtime/transport/node_hints.hpp"

namespace sluice {

class RdmaTransfers {
 public:
  /// `hints` are told of the adapter's work; nullptr in a job of one process.
  explicit RdmaTransfers(NodeHints* hints) : hints_(hints) {}

  /// These bytes of the message are read or written. False: the adapter's queue is full, and nothing was posted.
  bool post(RdmaTransfer& transfer, std::size_t offset, std::size_t bytes);
  /// What `post_token` has posted with the token that it is given, to be entered; nullptr: it has posted nothing.
  template <class PostToken>
  RdmaPiece* post_by(PostToken&& post_token) {
    RdmaPiece* const piece = take_piece();
    if (post_token(reinterpret_cast<std::uint64_t>(piece))) return piece;
    free_.push_back(piece);
    return nullptr;
  }
  void enter(RdmaPiece& piece, RdmaTransfer& transfer, std::size_t offset, std::size_t bytes);

  /// That piece is complete: its user is told, unless the request is over.
  void on_transferred(std::uint64_t token);
  /// That piece is over. What it was.
  RdmaPiece take_back(std::uint64_t token);

  /// The request is over. What the adapter still has to say about its pieces concerns nobody but the memory.
  void end(Request& request);
  /// An adapter has pieces of requests that are over.
  [[nodiscard]] bool outlive_requests() const { return !lingering_.empty(); }

 private:
  RdmaPiece* take_piece();

  NodeHints* hints_;
  std::deque<RdmaPiece> pieces_;
  std::vector<RdmaPiece*> free_;
  std::vector<decltype(Request::rdma)> lingering_;  // their requests are done, their pieces are not
};

}  // namespace sluice
