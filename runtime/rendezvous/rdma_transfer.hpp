// One message on its way by RDMA, as this side sees it: what of it the adapter has been told to move, and what is done.
//
// The message is cut into segments of at most `segment_bytes`, posted in order, at most `max_outstanding` of them at a time;
// their completions come in any order. So what is complete for certain ends where the oldest segment that is not complete begins.
// (COOP-hca posts chunks from the back, as it claims them, and goes by its claims: rendezvous/offload.hpp. An eager message is
// one segment.)
//
// A transfer outlives its request when the end was seen before the completion (get): it goes with its last segment. Who keeps
// segments and such transfers: rdma_transfers.hpp.
//
// Everything here belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/intrusive_list.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/registration/registration_cache.hpp"
#include "runtime/transport/rdma.hpp"

namespace sluice {

class RdmaProtocol;
struct RdmaSegment;

/// Who has the adapter move a message, and is told what has become of it.
class RdmaUser {
 public:
  /// It is not among the transfer's segments any more. The request may be gone afterwards.
  virtual void segment_complete(Request& request, const RdmaSegment& segment) = 0;
  /// Before that, and also where the request is done already.
  virtual void segment_over(const RdmaSegment& /*segment*/) {}

 protected:
  ~RdmaUser() = default;
};

inline constexpr std::size_t unlimited_segments = ~std::size_t{0};

/// Of what is not under the read window.
inline constexpr std::uint64_t not_timed = ~std::uint64_t{0};

/// One RDMA read or write that is posted; its address is the token.
struct RdmaSegment {
  RdmaTransfer* transfer = nullptr;
  std::size_t offset = 0;  // of its first byte in the message
  std::size_t bytes = 0;
  std::uint64_t posted_ns = not_timed;
  Peer peer{};
  ListLink<RdmaSegment> link;
};

struct RdmaTransfer {
  enum class Direction : std::uint8_t { read, write };

  Request* request = nullptr;  // nullptr: done, and only its segments are waited for
  RdmaUser* user = nullptr;
  const RdmaProtocol* protocol = nullptr;  // once it is chosen: by the receiver at the match, by the sender when it is cleared
  Rdma* adapter = nullptr;
  RegisteredMemory memory;  // this side's, from byte 0 of the message on
  bool in_block = false;    // at an alias, so that the application's pages may be protected meanwhile
  bool eager = false;       // a small message, gathered from there: no protocol, and no work that others are told of
  RemoteMemory remote;      // where byte 0 of the message lies at the peer
  Direction direction = Direction::read;
  bool has_sentinels = false;  // rdma_sentinels.hpp: in the last byte of each page that is not there
  std::byte sentinel{};
  std::size_t posted = 0;  // first byte that is not posted yet
  std::size_t end = 0;     // of what is to be moved
  std::size_t segment_bytes = 0;
  std::size_t max_outstanding = 0;
  std::size_t outstanding = 0;
  IntrusiveList<RdmaSegment, &RdmaSegment::link> segments;  // outstanding, in order of their offsets

  [[nodiscard]] std::byte* local(std::size_t offset) const { return reinterpret_cast<std::byte*>(memory.bytes().begin + offset); }
  [[nodiscard]] RemoteMemory remote_at(std::size_t offset) const { return {remote.address + offset, remote.key}; }
  [[nodiscard]] std::size_t complete_up_to() const { return segments.empty() ? posted : segments.first()->offset; }
  [[nodiscard]] bool all_posted() const { return posted == end; }
};

}  // namespace sluice
