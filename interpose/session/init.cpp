// MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Abort. The thread level is the application's: Sluice's own thread never calls MPI.
#include "interpose/host/host_library.hpp"
#include "interpose/host/step_aside.hpp"
#include "interpose/mpi/entry.hpp"
#include "runtime/guard/signal.hpp"

namespace sluice::calls {
namespace {

/// The host's threads inherit a mask that keeps the application's signals away from them. While the application's thread has its
/// signals held (runtime/guard/held_signals.hpp), the kernel would have the handlers run there, beside the application.
class BeforeHost {
 public:
  BeforeHost() : quiet_(Session::prepare()) {
    if (!quiet_) return;
    before_ = fault_signal::block_for_engine();
  }
  ~BeforeHost() {
    if (quiet_) fault_signal::restore_mask(before_);
  }
  BeforeHost(const BeforeHost&) = delete;
  BeforeHost& operator=(const BeforeHost&) = delete;

 private:
  bool quiet_;
  sigset_t before_{};
};

template <typename Call>
int start(Call&& call) {
  if (!HostLibrary::get().is_known()) {
    const int code = call();
    if (code == MPI_SUCCESS) step_aside();
    return code;
  }
  int code = MPI_SUCCESS;
  {
    const BeforeHost before;
    code = call();
  }
  if (code == MPI_SUCCESS) Session::open();
  return code;
}

int Init(CallSite, int* argc, char*** argv) {
  return start([&] { return host().Init(argc, argv); });
}

int Init_thread(CallSite, int* argc, char*** argv, int required, int* provided) {
  return start([&] { return host().Init_thread(argc, argv, required, provided); });
}

/// A program with sessions alone is the host's: all that it has are communicators made from groups, which are not adopted.
int Session_init(CallSite, MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  const int code = host().Session_init(info, handler, session);
  if (code == MPI_SUCCESS && !HostLibrary::get().is_known()) step_aside();
  return code;
}

/// The host calls back when the session is to end.
int Finalize(CallSite) {
  const HostCall here(trace::SettleCause::finalize);
  return host().Finalize();
}

/// Nothing is waited for: what is under guard is lost with the process.
int Abort(CallSite, MPI_Comm comm, int code) {
  Session::announce_abort();
  return host().Abort(comm, code);
}

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Init)
EXPORT(Init_thread)
EXPORT(Session_init)
EXPORT(Finalize)
EXPORT(Abort)
