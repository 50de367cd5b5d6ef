// What exists between MPI_Init and MPI_Finalize: the engine, its transport and its memory, and the private communicators.
//
// A session is made only when every rank can have one; otherwise the host carries everything, on every rank. It is never
// destroyed by exit handlers: an application that never calls MPI_Finalize leaves it as it is.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "interpose/session/engaged.hpp"
#include "interpose/session/transports.hpp"
#include "runtime/config/config.hpp"
#include "runtime/engine.hpp"

namespace sluice {

class AliasArena;

namespace detail {
extern Engine* engine;
}  // namespace detail

/// Only while engaged.
inline Engine& engine() { return *detail::engine; }

class Session {
 public:
  /// Directly before the host's MPI_Init, which makes threads: what is dearer afterwards. True when there may be releases.
  static bool prepare();
  /// Collective over all ranks, directly after the host's MPI_Init. Makes the session, or says why there is none.
  static void open();
  /// Collective over all ranks, inside the host's MPI_Finalize (finalize_callback.hpp). Nothing happens when not engaged.
  static void close();
  /// This process ends the job: peers need not report it as vanished.
  static void announce_abort();

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] int world_rank() const { return world_rank_; }
  [[nodiscard]] int world_size() const { return world_size_; }
  [[nodiscard]] int tag_limit() const { return tag_limit_; }
  /// A duplicate of MPI_COMM_WORLD for Sluice's own collectives.
  [[nodiscard]] MPI_Comm world_comm() const { return world_comm_; }
  /// A duplicate of MPI_COMM_SELF on which nothing ever happens.
  [[nodiscard]] MPI_Comm quiet_comm() const { return quiet_comm_; }
  /// The transports reach this process.
  [[nodiscard]] bool reaches(int world_rank) const { return transports_.reaches(world_rank); }
  [[nodiscard]] AliasArena* arena() const { return arena_.get(); }
  [[nodiscard]] const Transports& transports() const { return transports_; }
  /// The least of SLUICE_COLLECTIVES on the ranks of this node.
  [[nodiscard]] CarryMode collectives() const { return collectives_; }
  /// SLUICE_ONESIDED likewise.
  [[nodiscard]] CarryMode one_sided() const { return one_sided_; }

  /// False in a child that was made past the handlers of fork.
  [[nodiscard]] bool is_of_this_process() const { return process_ == getpid(); }
  /// In the child of a fork: everything is the host's, and nothing of the engine may be used.
  void abandon();

 private:
  explicit Session(const Config& config);
  void find_neighbours();
  bool start(std::string& why_not);
  void make_engine();
  void describe() const;
  void free_communicators();

  Config config_;
  Calibration calibration_;
  pid_t process_ = getpid();
  int world_rank_ = 0;
  int world_size_ = 0;
  int tag_limit_ = 0;
  MPI_Comm world_comm_;
  MPI_Comm node_comm_;
  MPI_Comm quiet_comm_;
  std::vector<int> node_ranks_;  // world ranks of the processes on this node, in the order of node_comm_
  ProcessorShare processors_;
  CarryMode collectives_ = CarryMode::off;
  CarryMode one_sided_ = CarryMode::off;
  std::unique_ptr<AliasArena> arena_;
  Transports transports_;  // outlives the engine
  std::unique_ptr<Engine> engine_;
};

/// Only while engaged, or inside Session::open.
Session& session();

}  // namespace sluice
