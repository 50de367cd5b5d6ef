// An engine with its world, as a process of a test, and messages for it.
#pragma once

#include <vector>

#include "runtime/engine.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {

inline std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>((i * 7 + i / 251 + seed) & 0xff);
  return data;
}

inline UserBuffer contiguous(std::vector<std::byte>& data) { return {data.data(), data.size(), Layout::contiguous(1)}; }

/// One of `size` processes that have two processors.
class Process {
 public:
  Process(LoopbackNetwork& network, Peer self, std::size_t size)
      : engine({.self = self,
                .job_size = size,
                .processors = {.processes = size, .processors = 2, .own = 2},
                .transport = &network.transport(self),
                .arena = nullptr,
                .host = {},
                .config = {}}) {
    std::vector<Peer> group(size);
    for (std::size_t i = 0; i < size; ++i) group[i] = static_cast<Peer>(i);
    world = engine.contexts().adopt(ContextId{1}, group, static_cast<Rank>(self));
  }
  void send(Rank to, Tag with, std::vector<std::byte>& data, SendMode mode = SendMode::standard) {
    engine.send(*world, to, with, data.data(), data.size(), mode, here);
  }
  Outcome receive(Rank from, Tag with, std::vector<std::byte>& data) {
    return engine.receive(*world, from, with, data.data(), data.size(), here);
  }

  Engine engine;
  Context* world;
};

}  // namespace sluice
