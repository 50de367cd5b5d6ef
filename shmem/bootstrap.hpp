// Introduces the processes of one node to each other, without a name in any file system.
//
//   1. The constructor makes the inbox and a listening unix socket with an abstract, random name. `address()` says how to reach
//      it; the caller gathers the addresses of all (over the host MPI).
//   2. `connect` reaches every process before this one in the list and accepts those after it. The two ends check each other's
//      user id and that each knows the other's token, and exchange inbox, helper bell and alias file as descriptors.
//
// The sockets stay open: the kernel closes them when their process ends, however it ends. (Forked children that do not exec
// inherit them and delay that news until they end too.)
//
// Nothing blocks longer than the deadline, and no order of arrival can deadlock: every socket is nonblocking, all are polled
// together.
//
// Errors: std::runtime_error naming the peer and the cause, for instance when it is in another network namespace.
// Threading: one thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/types.hpp"
#include "shmem/inbox.hpp"

namespace sluice {

/// What a process announces to the others of its node. Plain bytes, to be gathered by any means.
struct ShmemAddress {
  std::uint64_t layout = 0;  // layout_fingerprint(); 0: this process has none, and says why itself
  std::int32_t pid = 0;
  std::uint32_t uid = 0;
  Token token{};
  std::array<char, 40> name{};  // abstract socket name without its leading zero byte
};

/// A process on the node after the introduction.
struct ShmemPeer {
  Peer peer{};
  Inbox inbox;
  Descriptor socket;
  Descriptor helper_bell;
  Descriptor alias_file;            // none when the peer has no alias blocks
  pid_t pid = 0;                    // as this process sees it; 0 when it does not
  std::uint64_t token_address = 0;  // of InboxIdentity::token in the peer's memory
};

class ShmemBootstrap {
 public:
  struct Options {
    Peer self{};
    std::vector<Peer> local;  // the processes of this node, self included, in the same order everywhere
    int alias_file = -1;      // not owned
    std::chrono::steady_clock::time_point deadline;
  };

  explicit ShmemBootstrap(Options options);
  ~ShmemBootstrap();
  ShmemBootstrap(const ShmemBootstrap&) = delete;
  ShmemBootstrap& operator=(const ShmemBootstrap&) = delete;

  [[nodiscard]] const ShmemAddress& address() const { return address_; }

  /// `addresses` in the order of `Options::local`.
  void connect(std::span<const ShmemAddress> addresses);

 private:
  friend class ShmemTransport;
  class Handshake;

  Options options_;
  std::size_t self_ = 0;  // index of self in `local`
  ShmemAddress address_;
  Inbox inbox_;
  Descriptor inbox_file_;
  Descriptor helper_bell_;
  Descriptor listener_;
  std::vector<ShmemPeer> peers_;  // by local index; the entry of self is empty
};

}  // namespace sluice
