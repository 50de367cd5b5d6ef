// Calls that wait for files with a signal mask of their own: a handler that runs meanwhile runs under that mask.

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "interpose/entry.hpp"
#include "interpose/libc_next.hpp"
#include "interpose/libc_signal.hpp"

extern "C" {

SLUICE_EXPORTED int ppoll(pollfd* files, nfds_t count, const timespec* limit, const sigset_t* mask) {
  const sluice::KernelMask translated(mask);
  return NEXT(ppoll)(files, count, limit, translated.get());
}

SLUICE_EXPORTED int pselect(int count, fd_set* readable, fd_set* writable, fd_set* exceptional, const timespec* limit,
                            const sigset_t* mask) {
  const sluice::KernelMask translated(mask);
  return NEXT(pselect)(count, readable, writable, exceptional, limit, translated.get());
}

SLUICE_EXPORTED int epoll_pwait(int epoll, epoll_event* events, int count, int limit, const sigset_t* mask) {
  const sluice::KernelMask translated(mask);
  return NEXT(epoll_pwait)(epoll, events, count, limit, translated.get());
}

SLUICE_EXPORTED int epoll_pwait2(int epoll, epoll_event* events, int count, const timespec* limit, const sigset_t* mask) {
  const sluice::KernelMask translated(mask);
  return NEXT(epoll_pwait2)(epoll, events, count, limit, translated.get());
}

}  // extern "C"
