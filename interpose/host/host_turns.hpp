// Which threads may let the host progress while they wait.
//
// A thread that waits in a carried call may: the program has made a call. One that waits in a call of the C library's, for memory
// that is under guard, is in no call of MPI. It may do only what the program's thread level lets it do at any time: under
// MPI_THREAD_FUNNELED the host knows one thread, under MPI_THREAD_SERIALIZED another thread may be in the host just then.
//
// Threading: any thread asks. The level is written once, by the thread that called MPI_Init, before others wait.
#pragma once

namespace sluice {

/// Called by the thread that called MPI_Init: `level` is what the host provides.
void expect_thread_level(int level);

/// Whether the calling thread may call the host now.
[[nodiscard]] bool may_progress_host();

/// The calling thread is in a call of the C library's.
class OutsideOfCalls {
 public:
  OutsideOfCalls();
  ~OutsideOfCalls();
  OutsideOfCalls(const OutsideOfCalls&) = delete;
  OutsideOfCalls& operator=(const OutsideOfCalls&) = delete;
};

}  // namespace sluice
