// Calls that limit what the process may use. Memory that is mapped twice counts twice against a limit of the address space, which
// is the program's to spend, so it is given back first: once the limit is in force, there may be no room for the copies.
//
// Limits that others set, or bare system calls, are noticed when the next buffer is to become a block.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <sys/resource.h>
#include <unistd.h>

#include "interpose/libc/settle.hpp"
#include "runtime/process/window_span.hpp"

namespace sluice {
namespace {

template <typename Limit>
void expect_limit(int resource, const Limit* limit) {
  if (resource == RLIMIT_AS && limit && window_span::is_a_limit(limit->rlim_cur)) leave_address_space();
}

bool is_own(pid_t process) { return process == 0 || process == getpid(); }

}  // namespace
}  // namespace sluice

#define LIMIT_CALL(name, parameters, arguments, expectation)                       \
  extern "C" __attribute__((visibility("default"))) int name parameters noexcept { \
    expectation;                                                                   \
    return NEXT(name) arguments;                                                   \
  }

LIMIT_CALL(setrlimit, (__rlimit_resource_t resource, const rlimit* limit), (resource, limit),
           sluice::expect_limit(resource, limit))
LIMIT_CALL(setrlimit64, (__rlimit_resource_t resource, const rlimit64* limit), (resource, limit),
           sluice::expect_limit(resource, limit))
LIMIT_CALL(prlimit, (pid_t process, __rlimit_resource resource, const rlimit* limit, rlimit* old),
           (process, resource, limit, old), if (sluice::is_own(process)) sluice::expect_limit(resource, limit))
LIMIT_CALL(prlimit64, (pid_t process, __rlimit_resource resource, const rlimit64* limit, rlimit64* old),
           (process, resource, limit, old), if (sluice::is_own(process)) sluice::expect_limit(resource, limit))
