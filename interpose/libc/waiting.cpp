// System calls that wait and keep their description in the program's memory meanwhile. Helper threads of the host keep their
// descriptor sets in the heap, next to whatever the application receives there.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include <ctime>

#include "interpose/libc/signal.hpp"

// What programs call that were compiled with _FORTIFY_SOURCE; no header declares it.
extern "C" int __poll_chk(pollfd*, nfds_t, int, size_t);  // NOLINT(bugprone-reserved-identifier)

namespace sluice {
namespace {

void settle_files(const pollfd* files, nfds_t count) { settle(files, count * sizeof *files); }

void settle_sets(const fd_set* readable, const fd_set* writable, const fd_set* exceptional, const timeval* timeout) {
  settle(readable, sizeof *readable);
  settle(writable, sizeof *writable);
  settle(exceptional, sizeof *exceptional);
  settle(timeout, sizeof *timeout);
}

void settle_events(const epoll_event* events, int count) {
  settle(events, count > 0 ? static_cast<std::size_t>(count) * sizeof *events : 0);
}

}  // namespace
}  // namespace sluice

using sluice::settle;
using sluice::settle_events;
using sluice::settle_files;
using sluice::settle_sets;

SYSTEM_CALL(int, poll, (pollfd * files, nfds_t count, int timeout), (files, count, timeout), settle_files(files, count))
SYSTEM_CALL(int, __poll_chk, (pollfd * files, nfds_t count, int timeout, size_t room), (files, count, timeout, room),
            settle_files(files, count))
SYSTEM_CALL(int, select, (int count, fd_set* readable, fd_set* writable, fd_set* exceptional, timeval* timeout),
            (count, readable, writable, exceptional, timeout), settle_sets(readable, writable, exceptional, timeout))
SYSTEM_CALL(int, epoll_ctl, (int epoll, int operation, int file, epoll_event* event) noexcept, (epoll, operation, file, event),
            settle_events(event, 1))
SYSTEM_CALL(int, epoll_wait, (int epoll, epoll_event* events, int count, int timeout), (epoll, events, count, timeout),
            settle_events(events, count))
// With a signal mask of their own: a handler that runs meanwhile runs under that mask.
SYSTEM_CALL(int, ppoll, (pollfd * files, nfds_t count, const timespec* limit, const sigset_t* mask),
            (files, count, limit, sluice::KernelMask(mask).get()), settle_files(files, count);
            settle(limit, sizeof *limit))
SYSTEM_CALL(int, pselect,
            (int count, fd_set* readable, fd_set* writable, fd_set* exceptional, const timespec* limit, const sigset_t* mask),
            (count, readable, writable, exceptional, limit, sluice::KernelMask(mask).get()),
            settle_sets(readable, writable, exceptional, nullptr);
            settle(limit, sizeof *limit))
SYSTEM_CALL(int, epoll_pwait, (int epoll, epoll_event* events, int count, int limit, const sigset_t* mask),
            (epoll, events, count, limit, sluice::KernelMask(mask).get()), settle_events(events, count))
SYSTEM_CALL(int, epoll_pwait2, (int epoll, epoll_event* events, int count, const timespec* limit, const sigset_t* mask),
            (epoll, events, count, limit, sluice::KernelMask(mask).get()), settle_events(events, count);
            settle(limit, sizeof *limit))
SYSTEM_CALL(int, nanosleep, (const timespec* span, timespec* rest), (span, rest), settle(span, sizeof *span);
            settle(rest, sizeof *rest))
