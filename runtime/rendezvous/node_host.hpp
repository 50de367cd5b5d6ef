// What the ways inside a node (node_way.hpp, write_delivery.hpp) ask of the rest of the engine, and of who decides which side
// copies.
//
// Belongs to the engine lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/engine/request.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/policy/hybrid_choice.hpp"
#include "runtime/trace/kinds.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {

class NodeHost {
 public:
  /// To the other side's request.
  virtual void answer(const Request& request, MessageKind kind, std::span<const std::byte> payload, std::uint8_t flags) = 0;
  /// The same, and nothing is told of the match (trace).
  virtual void send_fin_of_chunks(const Request& request, std::uint8_t flags) = 0;
  virtual void finish(Request& request, std::uint64_t at_ns) = 0;
  /// The receive is to go another way, from `offset` to `stop`; nobody is expected to copy it (CopierChoice) any more.
  virtual void begin_again(Request& receive) = 0;
  virtual void fall_back(const Request& request, Fallback reason) = 0;
  /// Whether the receive's buffer is an alias block, or has become one now.
  virtual bool is_block(const Request& receive) = 0;
  /// These are the next bytes of the message.
  virtual void deliver(Request& receive, std::span<const std::byte> payload) = 0;
  /// A cross-memory copy that meets a closed page would wait for it.
  [[nodiscard]] virtual bool kernel_waits_for_pages() const = 0;
  /// The trace is told.
  virtual void tell_choice(const Request& receive, trace::Protocol protocol, trace::Reason reason, std::uint64_t at_ns) = 0;

 protected:
  ~NodeHost() = default;
};

/// Which side copies, and what becomes of the lines that are copied.
class CopierChoice {
 public:
  virtual CopyChoice choose(const Request& receive) = 0;
  /// COOP-load: for as long as the transfer goes on this way.
  virtual void expect(Request& receive, Copier copier) = 0;
  virtual void end_expected(Request& receive) = 0;
  /// Whether the message can be read from a cache that both processors may share.
  [[nodiscard]] virtual bool may_stay_in_outer_cache(const Request& receive) const = 0;

 protected:
  ~CopierChoice() = default;
};

/// Of the chunks that the receiver of a `write` delivery claims, some may be read by an adapter (coop-hca).
class ChunkReader {
 public:
  /// It takes part in this delivery.
  [[nodiscard]] virtual bool joins(Request& receive) = 0;
  /// Claims as many as it may have under way.
  virtual void claim(Request& receive) = 0;

 protected:
  ~ChunkReader() = default;
};

}  // namespace sluice
