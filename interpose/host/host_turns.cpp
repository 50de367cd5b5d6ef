#include "interpose/host/host_turns.hpp"

#include <mpi.h>
#include <pthread.h>

namespace sluice {
namespace {

constinit int thread_level = MPI_THREAD_MULTIPLE;
constinit pthread_t main_thread{};
/// Set and read by the thread itself. They nest: a call of the C library's may make others.
constinit thread_local unsigned outside = 0;

}  // namespace

void expect_thread_level(int level) {
  thread_level = level;
  main_thread = pthread_self();
}

bool may_progress_host() {
  if (outside == 0 || thread_level == MPI_THREAD_MULTIPLE) return true;
  return thread_level != MPI_THREAD_SERIALIZED && pthread_equal(main_thread, pthread_self()) != 0;
}

OutsideOfCalls::OutsideOfCalls() { ++outside; }
OutsideOfCalls::~OutsideOfCalls() { --outside; }

}  // namespace sluice
