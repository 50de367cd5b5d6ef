// Calls that may sleep on a lock in the program's memory (runtime/process/lock_waiters.hpp). Where there is a way to take the
// lock without sleeping, it is tried first, so that a free lock costs what it did.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <pthread.h>
#include <semaphore.h>

#include "interpose/session/session.hpp"
#include "runtime/engine/lock.hpp"
#include "runtime/process/lock_waiters.hpp"

namespace sluice {
namespace {

/// Not for a signal handler on top of the engine, which may be closing pages.
bool announces() { return engaged() && !EngineLock::held_by_this_thread(); }

template <typename Call>
int announced(const void* lock, Call&& call) {
  if (!announces()) return call();
  const lock_waiters::Announcement announcement(lock);
  return call();
}

/// Waiting for a condition also takes its mutex again.
template <typename Call>
int announced(const void* lock, const void* mutex, Call&& call) {
  return announced(lock, [&] { return announced(mutex, call); });
}

}  // namespace
}  // namespace sluice

using sluice::announced;
using sluice::engaged;

// NOLINTBEGIN(bugprone-macro-parentheses): prototypes
/// `attempt`: a call that does not sleep and answers `busy` when this one would.
#define LOCK_CALL(name, parameters, arguments, lock, attempt, busy)       \
  extern "C" __attribute__((visibility("default"))) int name parameters { \
    if (!engaged()) return NEXT(name) arguments;                          \
    const int result = attempt;                                           \
    if (!(busy)) return result;                                           \
    return announced(lock, [&] { return NEXT(name) arguments; });         \
  }
#define CONDITION_CALL(name, parameters, arguments)                           \
  extern "C" __attribute__((visibility("default"))) int name parameters {     \
    return announced(condition, mutex, [&] { return NEXT(name) arguments; }); \
  }
// NOLINTEND(bugprone-macro-parentheses): prototypes

LOCK_CALL(pthread_mutex_lock, (pthread_mutex_t * mutex) noexcept, (mutex), mutex, pthread_mutex_trylock(mutex), result == EBUSY)
LOCK_CALL(pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* until) noexcept, (mutex, until), mutex,
          pthread_mutex_trylock(mutex), result == EBUSY)
LOCK_CALL(pthread_mutex_clocklock, (pthread_mutex_t * mutex, clockid_t clock, const timespec* until) noexcept,
          (mutex, clock, until), mutex, pthread_mutex_trylock(mutex), result == EBUSY)
LOCK_CALL(pthread_rwlock_rdlock, (pthread_rwlock_t * lock) noexcept, (lock), lock, pthread_rwlock_tryrdlock(lock),
          result == EBUSY || result == EAGAIN)
LOCK_CALL(pthread_rwlock_wrlock, (pthread_rwlock_t * lock) noexcept, (lock), lock, pthread_rwlock_trywrlock(lock),
          result == EBUSY)
LOCK_CALL(sem_wait, (sem_t * semaphore), (semaphore), semaphore, sem_trywait(semaphore), result != 0)
LOCK_CALL(sem_timedwait, (sem_t * semaphore, const timespec* until), (semaphore, until), semaphore, sem_trywait(semaphore),
          result != 0)
LOCK_CALL(sem_clockwait, (sem_t * semaphore, clockid_t clock, const timespec* until), (semaphore, clock, until), semaphore,
          sem_trywait(semaphore), result != 0)

CONDITION_CALL(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex), (condition, mutex))
CONDITION_CALL(pthread_cond_timedwait, (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* until),
               (condition, mutex, until))
CONDITION_CALL(pthread_cond_clockwait,
               (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until),
               (condition, mutex, clock, until))

extern "C" __attribute__((visibility("default"))) int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  return announced(barrier, [&] { return NEXT(pthread_barrier_wait)(barrier); });
}
