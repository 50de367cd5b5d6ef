// What the ways inside a node (node_way.hpp, write_delivery.hpp) have of the rest of the engine.
//
// Belongs to the engine lock.
#pragma once

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/engine/job.hpp"
#include "runtime/engine/match_trace.hpp"
#include "runtime/engine/memory_users.hpp"
#include "runtime/engine/message_lines.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/requests.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/rendezvous/copy_choice.hpp"
#include "runtime/rendezvous/ways.hpp"

namespace sluice {

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

struct NodeParts {
  const Job& job;
  Outbox& outbox;
  Requests& requests;
  AliasBlocks& blocks;
  MemoryUsers& users;
  MatchTrace& matches;
  MessageLines& lines;
  EngineStatistics& statistics;
  CopierChoice& copiers;
  ChunkReader& adapter;
  Ways& ways;

  /// The receive is to go another way, from `offset` to `stop`; nobody is expected to copy it any more.
  void begin_again(Request& receive) const {
    copiers.end_expected(receive);
    ways.begin(receive);
  }
};

}  // namespace sluice
