// What does not change while the engine lives: who this process is, what it was told, and what its node is like.
//
// Owns facts only. It asks the transport for them once, when it is made, and does nothing afterwards.
// Threading: constant; any thread may read it.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/base/types.hpp"
#include "runtime/config/config.hpp"
#include "runtime/machine/calibration.hpp"
#include "runtime/process/processors.hpp"
#include "runtime/transport/transport.hpp"

namespace sluice {

class AliasArena;

/// The host MPI, as far as waiting must consider it. The helper thread and the fault handler never call these.
struct HostHooks {
  /// Gives the host a chance to progress (one cheap call). Called by application threads that wait, in carried calls or for
  /// memory in others, lock not held. False: this thread may not call the host here.
  bool (*progress)() = nullptr;
  /// Something of the host's may be outstanding (nonblocking operations, windows): progress it often and release nothing.
  bool (*outstanding)() = nullptr;
  /// Peers see at once, without a message, what this process stores (a window of shared memory): release what is matched only.
  bool (*shares_memory)() = nullptr;
  /// The host, or peers through it, may be reading or writing this process's memory: no page of it is replaced. Called by any
  /// thread, with the engine lock held.
  bool (*may_reach_memory)() = nullptr;
};

/// What an engine is made of.
struct EngineParts {
  Peer self{};
  std::size_t job_size = 0;
  ProcessorShare processors{};
  bool concurrent_calls = false;   // several application threads may be in calls at once
  Transport* transport = nullptr;  // reaches every peer but this process itself
  AliasArena* arena = nullptr;     // nullptr: no blocks, hence no release. The engine makes its PageGuard itself.
  bool arena_is_its_own = false;   // nobody else uses the arena: a thread looks for blocks that were freed
  HostHooks host;
  Config config;
  Calibration calibration{};  // need not be the same on all ranks
  ProcessorCaches caches = processor_caches();
};

struct Job {
  explicit Job(const EngineParts& parts);

  const Peer self;
  const std::size_t size;      // ranks
  Transport* const transport;  // nullptr in a job of one process
  AliasArena* const arena;     // nullptr: no blocks
  const bool arena_is_its_own;
  const HostHooks host;
  const Config config;
  const Calibration calibration;
  const ProcessorCaches caches;
  /// One piece of a copy inside the node: about 10 µs, so that control messages are answered in between and pages open soon.
  const std::size_t chunk_bytes;
  const std::size_t processes_on_node;
  const bool oversubscribed;   // more processes on this node than processors
  const bool crowded;          // ... and many of them on each
  const bool spare_processor;  // the helper thread has one beside the application's
  const bool concurrent_calls;
  const bool uses_sockets;                      // to some peer
  const std::vector<std::size_t> eager_limits;  // by peer
  const std::size_t eager_limit;                // smallest of them
  const std::size_t single_copy_bytes;          // shortest message that is announced though it is within them

  [[nodiscard]] std::size_t eager_limit_of(Peer peer) const { return eager_limits[static_cast<std::size_t>(peer)]; }
};

}  // namespace sluice
