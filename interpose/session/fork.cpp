#include "interpose/session/fork.hpp"

#include <pthread.h>

#include <utility>

#include "interpose/host/host_turns.hpp"
#include "interpose/mpi/entry.hpp"
#include "interpose/session/remaining_memory.hpp"
#include "interpose/session/session_use.hpp"
#include "runtime/alias/arena.hpp"

namespace sluice {
namespace {

/// Between the handlers.
constinit thread_local bool uses_session = false;

void install() { pthread_atfork(before_fork, in_parent_of_fork, in_child_of_fork); }

}  // namespace

/// The session does not end before the parent is back.
void before_fork() {
  uses_session = SessionUse::begin();
  if (uses_session) {
    const OutsideOfCalls here;
    return engine().memory().prepare_fork();
  }
  SessionUse::end();
  SessionUse::wait_until_ended();
  remaining_memory::before_fork();
}

void in_parent_of_fork() {
  if (!std::exchange(uses_session, false)) return remaining_memory::in_parent_of_fork();
  engine().memory().after_fork();
  SessionUse::end();
}

void in_child_of_fork() {
  SessionUse::forget_ending();
  if (!std::exchange(uses_session, false)) return remaining_memory::in_child_of_fork();
  session().abandon();
  SessionUse::end();
}

void install_fork_handlers() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
}

}  // namespace sluice
