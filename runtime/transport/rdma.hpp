// Remote direct memory access, as the rendezvous protocols see it: what an adapter offers, without the types of its library.
// A transport that has it implements this beside `Transport`; the tests have a model of an adapter that does the same.
//
// Messages (`Channel::reserve`, `commit`) and transfers to one peer are posted to one queue: a message committed after a write
// arrives after the data of that write is in place. A read has no such order with anything.
//
// Threading: every function is called with the engine lock held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/clock.hpp"
#include "runtime/base/types.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {

/// Memory of this process that an adapter may use, until it is deregistered.
struct Registration {
  ByteRange bytes;
  std::uint32_t local_key = 0;   // lkey
  std::uint32_t remote_key = 0;  // rkey, for peers
  void* handle = nullptr;        // the adapter's own
};

/// Memory of a peer, as its registration describes it.
struct RemoteMemory {
  std::uint64_t address = 0;
  std::uint32_t key = 0;

  bool operator==(const RemoteMemory&) const = default;
};

class Rdma {
 public:
  /// Registers memory of this process, at the addresses that transfers will name (the application's own, or the alias). False,
  /// with errno, when the kernel refuses: ENOMEM (memlock limit, or the adapter's own), EFAULT (not all of it is mapped).
  virtual bool register_memory(ByteRange bytes, Registration& registration) = 0;
  virtual void deregister(const Registration& registration) = 0;

  /// Posts an RDMA write or read. `local` lies in a registration with `local_key`. MessageSink::on_transferred(token) says that
  /// it is complete: what was written left this process and was acknowledged, what was read is in place. Token 0: nobody wants
  /// to know (for writes that a message follows). False: the queue is full; nothing was posted, on_room follows.
  virtual bool write(Peer peer, std::span<const std::byte> local, std::uint32_t local_key, RemoteMemory remote,
                     std::uint64_t token) = 0;
  virtual bool read(Peer peer, std::span<std::byte> local, std::uint32_t local_key, RemoteMemory remote, std::uint64_t token) = 0;

  /// Sends a message as Channel::commit does, with a payload that the adapter gathers out of registered memory, behind the
  /// header (FB section 3.1). MessageSink::on_transferred(token) says that the memory may be written to again. False: no room at
  /// once, or not by this adapter; nothing was done.
  virtual bool send_sge(Peer /*to*/, const WireHeader& /*header*/, std::span<const std::byte> /*payload*/,
                        std::uint32_t /*local_key*/, std::uint64_t /*token*/) {
    return false;
  }

  /// By what reads are timed; a model of an adapter has a clock of its own.
  [[nodiscard]] virtual std::uint64_t time_ns() const { return now_ns(); }

  /// Of `Adapters::loopback`: a read posted now would be taken. False: the queue is full, or there is no connection yet, which
  /// is then made; nobody is told when that is done.
  [[nodiscard]] virtual bool may_read(Peer /*peer*/) { return true; }

  /// The last byte of a transfer is placed last, so that whoever sees it has everything (SLUICE_VERBS_ORDERED).
  [[nodiscard]] virtual bool places_in_order() const = 0;
  /// Largest transfer that one call may post.
  [[nodiscard]] virtual std::size_t largest_transfer() const = 0;

 protected:
  ~Rdma() = default;
};

/// Which adapters reach whom. What stands here is of a transport without any.
class Adapters {
 public:
  /// Direct access to the peer's memory; nullptr when there is none.
  [[nodiscard]] virtual Rdma* rdma(Peer /*peer*/) { return nullptr; }

  /// The adapter beside the processors, for parts of messages that memory shared with this peer carries (COOP-hca). nullptr where
  /// there is none, or it has failed for this peer. Of its transfers only reads may be posted, when `may_read` says so.
  [[nodiscard]] virtual Rdma* loopback(Peer /*peer*/) { return nullptr; }

 protected:
  ~Adapters() = default;
};

}  // namespace sluice
