// Copies between the memories of processes on one node, and the words beside them by which both sides follow a copy.
//
// What stands here is of a transport that has none of it: all copies refuse, and no slot is ever open. tcp and verbs leave it at
// that; shmem has all.
//
// Threading: every function is called with the engine lock held, unless it is marked [any thread].
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/types.hpp"
#include "runtime/copy/shared_copy.hpp"

namespace sluice {

class NodeMemory {
 public:
  /// Whether this process can write to and read from the peer's memory file, and read the peer's memory at large.
  [[nodiscard]] virtual bool can_write(Peer /*peer*/) const { return false; }
  [[nodiscard]] virtual bool can_read_blocks(Peer /*peer*/) const { return false; }
  [[nodiscard]] virtual bool can_read(Peer /*peer*/) const { return false; }
  /// [any thread] Copies into the peer's memory file; false when that is impossible (nothing is lost, the transfer goes
  /// another way) and can_write answers false from then on. `lines`: of the target, for the choice of stores.
  virtual bool write(Peer /*peer*/, std::uint64_t /*file_offset*/, std::span<const std::byte> /*source*/, TargetLines /*lines*/) {
    return false;
  }
  /// [any thread] Copies from the peer's memory file; false as for `write`; `lines` likewise.
  virtual bool read_block(Peer /*peer*/, std::uint64_t /*file_offset*/, std::span<std::byte> /*target*/, TargetLines /*lines*/,
                          SourceLines /*source*/) {
    return false;
  }
  /// [any thread] Copies from an address of the peer. Returns the bytes copied, fewer than asked for when it failed.
  virtual std::size_t read(Peer /*peer*/, std::uint64_t /*peer_address*/, std::span<std::byte> /*target*/) { return 0; }
  /// Whether this process can write to the peer's memory at large. The peer may not be able to do so here.
  [[nodiscard]] virtual bool can_write_at(Peer /*peer*/) const { return false; }
  /// [any thread] Copies to an address of the peer. As `read`; where the kernel refuses it altogether, can_write_at answers false
  /// from then on.
  virtual std::size_t write_at(Peer /*peer*/, std::uint64_t /*peer_address*/, std::span<const std::byte> /*source*/) { return 0; }
  /// [any thread] Between addresses of the peer, one after the other, and as many bytes here. False when that failed somewhere.
  virtual bool read_places(Peer /*peer*/, std::span<const iovec> /*places*/, std::byte* /*target*/) { return false; }
  virtual bool write_places(Peer /*peer*/, std::span<const iovec> /*places*/, const std::byte* /*source*/) { return false; }

  /// Progress words: the receiver owns a slot, the sender of a `write` delivery reports the prefix that has arrived.
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};
  virtual std::uint32_t open_progress_slot() { return no_slot; }  // no_slot when all are in use
  virtual void close_progress_slot(std::uint32_t /*slot*/) {}
  [[nodiscard]] virtual std::uint64_t progress(std::uint32_t /*slot*/) const { return 0; }       // [any thread], acquire
  virtual void report_progress(Peer /*to*/, std::uint32_t /*slot*/, std::uint64_t /*bytes*/) {}  // [any thread], release
  /// Beside each progress word: who copies which chunk (ChunkClaims). nullptr when the peer has no such slot.
  virtual std::atomic<std::uint64_t>& claims(std::uint32_t /*slot*/) {  // [any thread]
    static constinit std::atomic<std::uint64_t> none{0};
    return none;
  }
  virtual std::atomic<std::uint64_t>* claims_at(Peer /*peer*/, std::uint32_t /*slot*/) { return nullptr; }  // [any thread]

  /// Unmaps what is mapped of peers' memory, as address space has become scarce here. No copy is being made.
  virtual void leave_address_space() {}

 protected:
  ~NodeMemory() = default;
};

}  // namespace sluice
