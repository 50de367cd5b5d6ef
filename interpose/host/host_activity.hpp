// What of the host's may be outstanding. While something is, waiting in Sluice must progress the host too, and no receive is
// released: a peer may be waiting for a host operation that only this process's calls drive.
//
// Counted: nonblocking operations from their start until a completion call returns their request as null, persistent ones while
// active, windows and split file operations while open. A request that was freed unfinished counts until MPI_Finalize.
//
// Windows of shared memory, and those that Sluice carries, are counted apart. Whatever is done to them needs no call of this
// process. But what it stores there is seen at once, so nothing may be unknown meanwhile.
// Threading: any thread.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>

namespace sluice {

class HostActivity {
 public:
  [[nodiscard]] bool outstanding() const { return count_.load(std::memory_order_relaxed) != 0; }

  /// A thread is in a call of the host's until it has `left`. Seq_cst, as Engine::HostCalls::wait_until_memory_rests says.
  void entered() { calls_.fetch_add(1, std::memory_order_seq_cst); }
  void left() { calls_.fetch_sub(1, std::memory_order_release); }
  /// The host, or peers through it, may be reading or writing memory of this process.
  [[nodiscard]] bool may_reach_memory() const { return outstanding() || calls_.load(std::memory_order_seq_cst) != 0; }

  /// `code` is the host's answer to the call that made `request`; returned unchanged, as by all functions here.
  int started(int code, const MPI_Request* request);
  int begun(int code);
  int ended(int code);

  /// A window of shared memory was made.
  int shared(int code, const MPI_Win* window);
  /// One that has begun is as one of shared memory from now on.
  void carried(MPI_Win window);
  /// Of any kind.
  int freed(int code, MPI_Win window);
  /// Peers see at once what this process stores.
  [[nodiscard]] bool shares_memory() const { return shared_windows_.load(std::memory_order_relaxed) != 0; }

  /// A persistent request of the host's was started.
  void persistent_started(MPI_Request request);
  /// A completion call left `after` where the application had `before`, a request of the host's that it reported complete.
  void completed(MPI_Request before, MPI_Request after);

 private:
  std::atomic<std::size_t> count_{0};
  std::atomic<std::size_t> calls_{0};
  std::atomic<std::size_t> shared_windows_{0};  // written under the mutex of their list; who has made the window reads it
};

HostActivity& host_activity();

/// One cheap call that lets the host progress.
void progress_host();

}  // namespace sluice
