// One message on its way by RDMA, as this side sees it: what of it the adapter has been told to move, and what is done.
//
// The message is cut into pieces of at most `piece_bytes`, posted in order, at most `most_outstanding` of them at a time; their
// completions come in any order. So what is complete for certain ends where the oldest piece that is not complete begins.
// (COOP-hca posts chunks from the back, as it claims them, and goes by its claims: rendezvous/offload.hpp. An eager message is
// one piece.)
//
// A transfer outlives its request when the end was seen before the completion (get): it goes with its last piece. Who keeps
// pieces and such transfers: rdma_transfers.hpp.
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
struct RdmaPiece;

/// Who has the adapter move a message, and is told what has become of it.
class RdmaUser {
 public:
  /// It is not among the transfer's pieces any more. The request may be gone afterwards.
  virtual void piece_complete(Request& request, const RdmaPiece& piece) = 0;

 protected:
  ~RdmaUser() = default;
};

inline constexpr std::size_t unlimited_pieces = ~std::size_t{0};

/// One RDMA read or write that is posted; its address is the token.
struct RdmaPiece {
  RdmaTransfer* transfer = nullptr;
  std::size_t offset = 0;  // of its first byte in the message
  std::size_t bytes = 0;
  ListLink<RdmaPiece> link;
};

struct RdmaTransfer {
  enum class Direction : std::uint8_t { read, write };

  Request* request = nullptr;  // nullptr: done, and only its pieces are waited for
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
  std::size_t piece_bytes = 0;
  std::size_t most_outstanding = 0;
  std::size_t outstanding = 0;
  IntrusiveList<RdmaPiece, &RdmaPiece::link> pieces;  // outstanding, in order of their offsets

  [[nodiscard]] std::byte* local(std::size_t offset) const { return reinterpret_cast<std::byte*>(memory.bytes().begin + offset); }
  [[nodiscard]] RemoteMemory remote_at(std::size_t offset) const { return {remote.address + offset, remote.key}; }
  [[nodiscard]] std::size_t complete_up_to() const { return pieces.empty() ? posted : pieces.first()->offset; }
  [[nodiscard]] bool all_posted() const { return posted == end; }
};

}  // namespace sluice
