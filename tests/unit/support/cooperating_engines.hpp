// Two engines with alias blocks that share the copying of a message, and memory with messages for them: what the tests of copies
// by both sides have in common. Joined by the loop-back network, the processes share an address space, and the blocks.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "runtime/alias/arena.hpp"
#include "runtime/engine.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/two_engines.hpp"
#include "tests/unit/support/two_ranks.hpp"

namespace sluice {

inline constexpr std::size_t room = 3'000'000;

/// Ordinary private memory that may become a block.
class Pages {
 public:
  Pages() {
    if (start_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Pages() { munmap(start_, room); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(start_); }

 private:
  void* start_ = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

inline constexpr int rounds = 12;  // a buffer becomes a block at its sixth use

/// `room` bytes, others in every round. Computed once: sanitizers make loops over bytes slow, and leave memcpy as it is.
inline const std::byte* message_of(int round) {
  static const std::vector<std::byte> bytes = [] {
    std::vector<std::byte> made(room + rounds);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::byte>(i * 7 + i / 4099);
    return made;
  }();
  return bytes.data() + round;
}

/// Both sides take part in every copy (Rendezvous::coop), and nothing is released.
inline Config cooperating() {
  Config made;
  made.release = ReleaseMode::off;
  made.rendezvous = Rendezvous::coop;
  return made;
}

/// A sender and a receiver.
struct CooperatingEngines {
  explicit CooperatingEngines(Config wanted = cooperating()) : config(std::move(wanted)) {}
  CooperatingEngines(Config wanted, const Calibration& measured, const ProcessorShare& share, LoopbackKnobs knobs = {})
      : config(std::move(wanted)), calibration(measured), processors(share), network(2, knobs) {}
  explicit CooperatingEngines(ProcessorCaches held) : config(cooperating()), caches(held) {}

  [[nodiscard]] Engine::Parts parts(Peer self) {
    Engine::Parts made = one_of_two(self, network.transport(self), config, &arena);
    made.calibration = calibration;
    made.processors = processors;
    made.caches = caches;
    return made;
  }

  const Config config;
  const Calibration calibration{};
  const ProcessorShare processors{.processes = 1, .processors = 2, .own = 2};
  const ProcessorCaches caches = processor_caches();
  LoopbackNetwork network{2, {}};
  AliasArena arena{10000};
  Engine sender{parts(Peer{0})};
  Engine receiver{parts(Peer{1})};
  Context* from = sender.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, zero);
  Context* to = receiver.contexts().adopt(ContextId{1}, {Peer{0}, Peer{1}}, one);
  const Pages source;
  const Pages target;
};

}  // namespace sluice
