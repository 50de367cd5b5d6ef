// A handler of pthread_atfork takes a lock, as those of allocators do, which another thread holds while it touches data that have
// not come yet.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "hostile.h"

enum { rounds = 3, until_it_sleeps_ms = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int held;

static void take(void) { pthread_mutex_lock(&lock); }
static void give_back(void) { pthread_mutex_unlock(&lock); }

// Before MPI_Init: of what fork runs first, this comes last.
__attribute__((constructor)) static void install(void) { pthread_atfork(take, give_back, give_back); }

static void* touches(void* buffer) {
  take();
  atomic_store(&held, 1);
  const char first = *(volatile char*)buffer;
  give_back();
  return first == 0 ? NULL : buffer;
}

static void fork_beside_a_touch(char* buffer) {
  atomic_store(&held, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, touches, buffer);
  while (!atomic_load(&held)) pause_ms(1);
  pause_ms(until_it_sleeps_ms);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with wait status %x", status);
  pthread_join(thread, NULL);
}

static void lock_is_held_by_who_touches(void) {
  char* buffer = allocate(large);
  for (unsigned i = 0; i < rounds; i++) {
    if (partner() < size && rank % 2 == 0) pause_ms(4 * until_it_sleeps_ms);
    if (!late(buffer, large, i)) continue;
    fork_beside_a_touch(buffer);
    expect_filled(buffer, large, i);
    note_bytes(buffer, large);
  }
  free(buffer);
}

static const Case cases[] = {CASE(lock_is_held_by_who_touches, 2)};
SUITE_AT_LEVEL(cases, MPI_THREAD_SERIALIZED)
