// Which transports this process has, and their making: shared memory between the processes of a node, and between nodes verbs
// where every rank has an adapter on the same kind of network, otherwise TCP; both behind one face where a job needs both. A job
// on one node has shared memory alone, and nothing of what follows from adapters and sockets, unless SLUICE_RNDV=coop-hca asks
// for the adapter beside shared memory.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/listener.hpp"
#include "net/siphash.hpp"
#include "runtime/config/config.hpp"
#include "runtime/trace/kinds.hpp"
#include "runtime/transport/transport.hpp"
#include "verbs/address.hpp"

namespace sluice {

class AliasArena;
class NetworkTransport;
class MixedTransport;
class ShmemTransport;
class TcpTransport;
class VerbsQueues;
class VerbsTransport;

/// Runs one step of the start on every rank; the empty string when all succeeded, otherwise why not, on the lowest rank that
/// failed (the others get a reference to it).
std::string together(MPI_Comm comm, const std::function<void()>& step);

class Transports {
 public:
  /// After `agree`: there are ranks on this node that messages reach through shared memory.
  [[nodiscard]] bool uses_shmem() const { return uses_shmem_; }
  struct Job {
    const Config* config = nullptr;
    MPI_Comm world;
    MPI_Comm node;
    int rank = 0;                 // in world
    int size = 0;                 // of world
    bool oversubscribed = false;  // the processes of this node share processors
    std::vector<int> node_ranks;  // world ranks of the processes on this node, in the order of `node`
  };

  Transports();
  ~Transports();
  Transports(const Transports&) = delete;
  Transports& operator=(const Transports&) = delete;

  /// Collective over the world; nothing in it fails on some ranks only: what goes wrong is agreed upon.
  void agree(Job job);
  /// Collective over the node. Throws when it fails.
  void make(const AliasArena& arena);

  /// nullptr when there is no peer that could be reached.
  [[nodiscard]] Transport* get() const { return transport_; }
  [[nodiscard]] const TcpTransport* tcp() const { return tcp_.get(); }
  [[nodiscard]] const VerbsTransport* verbs() const { return verbs_.get(); }
  [[nodiscard]] bool reaches(int world_rank) const { return reachable_[static_cast<std::size_t>(world_rank)]; }
  [[nodiscard]] bool all_reachable() const;
  /// This process itself, or one on its node that shared memory reaches. The same from both sides.
  [[nodiscard]] bool shares_memory_with(int world_rank) const {
    return uses_shmem_ && on_this_host_[static_cast<std::size_t>(world_rank)];
  }
  /// A number of the node on which a rank is: the same to all. Only where they have met.
  [[nodiscard]] std::uint32_t node_of(int world_rank) const { return nodes_[static_cast<std::size_t>(world_rank)]; }
  /// The least of SLUICE_COLLECTIVES on all ranks; off where they have not met.
  [[nodiscard]] CarryMode collectives() const { return collectives_; }
  /// SLUICE_ONESIDED likewise.
  [[nodiscard]] CarryMode one_sided() const { return one_sided_; }
  /// What carries the messages to each rank of the world.
  [[nodiscard]] std::vector<trace::Transporter> by_rank() const;

  /// This process ends, or ends the job: peers need not report it as vanished, nor it them. [any thread]
  void leave();

 private:
  [[nodiscard]] bool wants_loopback() const;
  bool agree_on_sockets();
  void meet();
  bool agree_on_verbs();
  void make_network();
  void make_shmem(const AliasArena& arena);

  Job job_;
  std::vector<bool> on_this_host_;  // by world rank
  std::vector<bool> reachable_;
  bool uses_shmem_ = false;
  bool uses_verbs_ = false;
  bool uses_tcp_ = false;
  std::unique_ptr<VerbsQueues> verbs_queues_;
  std::vector<VerbsAddress> verbs_addresses_;
  Listener listener_;
  std::vector<TcpEndpoint> endpoints_;
  std::vector<std::uint32_t> nodes_;  // by world rank
  CarryMode collectives_ = CarryMode::off;
  CarryMode one_sided_ = CarryMode::off;
  SipKey secret_{};

  std::unique_ptr<ShmemTransport> shmem_;
  std::unique_ptr<VerbsTransport> verbs_;
  std::unique_ptr<TcpTransport> tcp_;
  NetworkTransport* network_ = nullptr;  // one of the two
  std::unique_ptr<MixedTransport> mixed_;
  Transport* transport_ = nullptr;
};

}  // namespace sluice
