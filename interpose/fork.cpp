#include "interpose/fork.hpp"

#include <pthread.h>

#include "interpose/entry.hpp"
#include "runtime/alias_arena.hpp"

namespace sluice {
namespace {

void install() { pthread_atfork(before_fork, in_parent_of_fork, in_child_of_fork); }

}  // namespace

void before_fork() {
  if (engaged()) engine().prepare_fork();
}

void in_parent_of_fork() {
  if (engaged()) engine().after_fork();
}

void in_child_of_fork() {
  if (engaged()) session().abandon();
}

void install_fork_handlers() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
}

}  // namespace sluice
