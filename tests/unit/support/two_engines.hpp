// What the two engines of a test are made of.
#pragma once

#include "runtime/engine.hpp"

namespace sluice {

/// One of two processes, as if of two nodes, with a processor to spare.
inline Engine::Parts one_of_two(Peer self, Transport& transport, const Config& config, AliasArena* arena = nullptr) {
  return {.self = self,
          .job_size = 2,
          .processors = {.processes = 1, .processors = 2, .own = 2},
          .transport = &transport,
          .arena = arena,
          .host = {},
          .config = config};
}

}  // namespace sluice
