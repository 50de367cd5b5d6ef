// What the engine needs of a transport: all its parts in one object. shmem, tcp and verbs implement it; so does the loop-back
// transport of the unit tests. One transport object serves every peer that it reaches.
//
// A class of the engine takes the part that it needs. What a transport lacks, the part says; nothing is said twice. `Channel`
// stands first, as it shares its table of functions with the whole: a small message pays for no adjustment of the pointer.
//
// Threading: as the parts say. Most is called with the engine lock held.
#pragma once

#include "runtime/transport/channel.hpp"
#include "runtime/transport/doorbell.hpp"
#include "runtime/transport/lane_memory.hpp"
#include "runtime/transport/node_hints.hpp"
#include "runtime/transport/node_memory.hpp"
#include "runtime/transport/rdma.hpp"

namespace sluice {

class Transport : public Channel, public Doorbell, public NodeMemory, public NodeHints, public LaneMemory, public Adapters {
 public:
  virtual ~Transport() = default;
};

}  // namespace sluice
