// What adapters have been told to move for this process, and what becomes of it: the segments that are posted, and the transfers
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
  bool post(RdmaTransfer& transfer, std::size_t offset, std::size_t bytes, std::uint64_t posted_ns = not_timed);
  /// What `post_token` has posted with the token that it is given, to be entered; nullptr: it has posted nothing.
  template <class PostToken>
  RdmaSegment* post_by(PostToken&& post_token) {
    RdmaSegment* const segment = take_segment();
    if (post_token(reinterpret_cast<std::uint64_t>(segment))) return segment;
    free_.push_back(segment);
    return nullptr;
  }
  void enter(RdmaSegment& segment, RdmaTransfer& transfer, std::size_t offset, std::size_t bytes);

  /// That segment is complete: its user is told, unless the request is over.
  void on_transferred(std::uint64_t token);
  /// That segment is over. What it was.
  RdmaSegment take_back(std::uint64_t token);

  /// The request is over. What the adapter still has to say about its segments concerns nobody but the memory.
  void end(Request& request);
  /// An adapter has segments of requests that are over.
  [[nodiscard]] bool outlive_requests() const { return !zombies_.empty(); }

 private:
  RdmaSegment* take_segment();

  NodeHints* hints_;
  std::deque<RdmaSegment> segments_;
  std::vector<RdmaSegment*> free_;
  std::vector<decltype(Request::rdma)> zombies_;  // their requests are done, their segments are not
};

}  // namespace sluice
