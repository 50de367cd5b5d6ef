// MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Abort. The thread level is the application's: Sluice's own thread never calls MPI.
#include "interpose/entry.hpp"

namespace sluice::calls {
namespace {

int Init(CallSite, int* argc, char*** argv) {
  Session::prepare();
  const int code = host().Init(argc, argv);
  if (code == MPI_SUCCESS) Session::open();
  return code;
}

int Init_thread(CallSite, int* argc, char*** argv, int required, int* provided) {
  Session::prepare();
  const int code = host().Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) Session::open();
  return code;
}

int Finalize(CallSite) {
  Session::close();
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
EXPORT(Finalize)
EXPORT(Abort)
