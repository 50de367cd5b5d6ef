// What processes of one node let each other see of what they do, for choices between equals. Nothing depends on it but speed.
//
// What stands here is of a transport that sees nothing.
//
// Threading: every function is called with the engine lock held.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/types.hpp"
#include "runtime/transport/copy_load.hpp"

namespace sluice {

class NodeHints {
 public:
  /// Who has how much to copy on this node (COOP-load, CO section II-B2). Hints, for a choice between equals.
  /// Of this process or a peer on its node, as they stand now.
  [[nodiscard]] virtual CopyLoad copy_load(Peer /*peer*/) const { return {}; }
  /// This process expects so many more bytes (fewer, if negative) of copies by `by`, which may be itself. What it expects of one
  /// process never falls below 0.
  virtual void expect_copy(Peer /*by*/, std::int64_t /*bytes*/) {}
  /// So many bytes were copied by this process.
  virtual void copied(std::size_t /*bytes*/) {}
  /// Transfers of large messages that the adapters of this node's processes have under way, as they stand now; a hint.
  [[nodiscard]] virtual std::size_t adapter_work() const { return 0; }
  /// So many more (fewer, if negative) are this process's own.
  virtual void note_adapter_work(int /*transfers*/) {}
  /// A thread of the peer is in a call, or has been woken, so that what is sent to it is seen at once. A hint.
  [[nodiscard]] virtual bool is_attentive(Peer /*peer*/) const { return false; }
  /// The same after a moment between two calls, for which this waits, a few µs at most.
  [[nodiscard]] virtual bool is_attentive_soon(Peer peer) const { return is_attentive(peer); }

  /// What it takes to read a line that the peer wrote when it announced its last large message to anybody, in ns
  /// (peer_distance.hpp). 0: it has written none since the last look, so that they are in this processor's cache. Where blocks
  /// can be read.
  [[nodiscard]] virtual std::uint32_t line_latency_ns(Peer /*peer*/) { return 0; }
  /// Writes such lines.
  virtual void mark_lines() {}
  /// The same of the message's own lines before `end` in the peer's memory file, 3 KB or more.
  [[nodiscard]] virtual std::uint32_t line_latency_before_ns(Peer /*peer*/, std::uint64_t /*end*/) { return 0; }

 protected:
  ~NodeHints() = default;
};

}  // namespace sluice
