// Cancellation of threads: what the engine has to know to be left in order (runtime/process/cancellation.hpp).

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <pthread.h>

#include "interpose/mpi/entry.hpp"
#include "runtime/process/cancellation.hpp"

extern "C" {

SLUICE_EXPORTED int pthread_cancel(pthread_t thread) {
  const int result = NEXT(pthread_cancel)(thread);
  sluice::cancellation::note_request();
  return result;
}

/// A cancellation that is pending may act inside.
SLUICE_EXPORTED int pthread_setcanceltype(int type, int* old) {
  const bool asynchronous = type == PTHREAD_CANCEL_ASYNCHRONOUS;
  if (!asynchronous) sluice::cancellation::note_type(false);
  const int result = NEXT(pthread_setcanceltype)(type, old);
  if (asynchronous && result == 0) sluice::cancellation::note_type(true);
  return result;
}

}  // extern "C"
