// What one rank does in a collective call that goes by messages. Plain data, made by pure functions (plans/). Neither memory nor
// time is known here, so the schedules of all ranks can be simulated. CollectiveRun carries them out.
//
// A schedule is a list of rounds. In each, in this order, the rank
//
//   1. starts its receives, then its sends, in the order in which they stand;
//   2. does its local steps, one after the other, while the messages are on their way;
//   3. waits until all messages of the round are complete.
//
// So local steps and sends of a round see what earlier rounds have received and done. Sends do not see the local steps of their
// own round. What a round receives into is touched by nothing else in that round, and what it sends from is written by nothing.
//
// Messages of one part from one rank to another are matched in the order in which both schedules have them. A message of 0 bytes
// is sent in a barrier only: elsewhere a part without bytes is left out by both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/types.hpp"

namespace sluice {

/// Packed bytes of one block of an area.
struct Region {
  enum class Area : std::uint8_t {
    operand,  // what the caller contributes; in place, where MPI says that it lies in the result
    result,   // what the caller receives
    scratch,  // one block, made for the call
  };

  Area area{};
  std::uint32_t block = 0;  // of areas with a block for each rank: that rank; for each neighbour: its place; else 0
  std::size_t begin = 0;    // in the block
  std::size_t bytes = 0;

  friend bool operator==(const Region&, const Region&) = default;
};

struct Round {
  struct Message {
    Rank peer{};
    Region region;
    /// Of several between two ranks in one call, where their order does not say which is which: alike on both sides.
    std::uint16_t part = 0;
  };
  /// target = sources[0] op sources[1] op ... in the canonical order of so many operands; a copy where there is one source only.
  /// The target may be one of the sources, and overlaps none of them otherwise.
  struct Local {
    std::vector<Region> sources;
    Region target;
  };

  std::vector<Message> receives;
  std::vector<Message> sends;
  std::vector<Local> local;
};

struct Schedule {
  std::vector<Round> rounds;
  std::size_t scratch_bytes = 0;
};

}  // namespace sluice
