// Bytes between the memories of a node, a segment at a time, by the thread that progresses and outside the engine lock.
//
// Owns the number of segments that are being copied. Request::copying marks whose: its offset and way stay as they are meanwhile,
// but for what is written here. It must not choose, and ends nothing: that follows from what it returns.
//
// Belongs to the engine lock, which `write` and the reads give up for the copy.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>

#include "runtime/alias/arena.hpp"
#include "runtime/engine/lock.hpp"
#include "runtime/engine/message_lines.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/transport/node_hints.hpp"
#include "runtime/transport/node_memory.hpp"

namespace sluice {

using Lock = std::unique_lock<EngineLock>;

class NodeCopies {
 public:
  struct Parts {
    NodeMemory* memory;  // nullptr in a job of one process, like the next
    NodeHints* hints;
    const AliasArena* arena;  // nullptr: no blocks
    MessageLines& lines;
    EngineStatistics& statistics;
  };

  explicit NodeCopies(const Parts& parts) : parts_(parts) {}

  /// While it lives, the request is being copied.
  class Turn {
   public:
    Turn(NodeCopies& copies, Request& request) : copies_(copies), request_(request) {
      request_.copying = true;
      ++copies_.busy_;
    }
    ~Turn() {
      request_.copying = false;
      --copies_.busy_;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    NodeCopies& copies_;
    Request& request_;
  };

  /// The bytes from `offset` to `end` into the receiver's block, or its memory at large, and tells it of each segment; moves
  /// `offset`. False: not all, as the receiver's memory cannot be written to (any more).
  bool write(Lock& lock, Request& send, std::size_t end);
  /// Bytes of the message into the receiver's buffer, which has no gaps. How many; fewer than asked for: why_short.
  std::size_t read(Lock& lock, const Request& receive, std::size_t offset, std::size_t bytes);
  /// ... or into memory of this process's own.
  std::size_t fetch(Lock& lock, const Request& receive, std::size_t offset, std::span<std::byte> target);
  [[nodiscard]] Fallback why_short(const Request& receive) const;

  /// References, as it is looked at often.
  [[nodiscard]] const std::size_t& busy() const { return busy_; }

 private:
  bool write_segment(Lock& lock, Request& send, std::size_t max_bytes);
  std::size_t store(const Request& send, std::span<const std::byte> source, TargetLines lines) const;
  std::size_t fetch(const Request& receive, std::size_t offset, std::span<std::byte> target, TargetLines lines) const;
  void count(std::size_t bytes);

  const Parts parts_;
  std::size_t busy_ = 0;
};

}  // namespace sluice
