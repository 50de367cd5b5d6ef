// What the two engines of a test are made of.
#pragma once

#include "runtime/engine.hpp"

namespace sluice {

/// One of two processes, with a processor each.
inline Engine::Parts one_of_two(Peer self, Transport& transport, const Config& config, AliasArena* arena = nullptr) {
  return {
      .self = self, .job_size = 2, .processes_on_node = 1, .transport = &transport, .arena = arena, .host = {}, .config = config};
}

}  // namespace sluice
