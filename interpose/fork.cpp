#include "interpose/fork.hpp"

#include <pthread.h>

#include "interpose/entry.hpp"
#include "interpose/remaining_memory.hpp"
#include "runtime/alias_arena.hpp"

namespace sluice {
namespace {

void install() { pthread_atfork(before_fork, in_parent_of_fork, in_child_of_fork); }

}  // namespace

void before_fork() { engaged() ? engine().prepare_fork() : remaining_memory::before_fork(); }

void in_parent_of_fork() { engaged() ? engine().after_fork() : remaining_memory::in_parent_of_fork(); }

void in_child_of_fork() { engaged() ? session().abandon() : remaining_memory::in_child_of_fork(); }

void install_fork_handlers() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
}

}  // namespace sluice
