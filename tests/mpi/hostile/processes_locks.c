// The C library's fork resets the locks of its heaps and streams in the child. They lie beside buffers.
#include <pthread.h>
#include <sys/wait.h>

#include "hostile.h"

enum { bytes = 100000 };

static pthread_barrier_t both;

static void fork_and_wait(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with wait status %x", status);
}

// The thread that `run` is stops twice at `both`: when it has received, and until this one has forked.
static void beside(void* (*run)(void*), void (*then)(void)) {
  pthread_barrier_init(&both, NULL, 2);
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  pthread_barrier_wait(&both);
  fork_and_wait();
  if (then) then();
  pthread_barrier_wait(&both);
  pthread_join(thread, NULL);
  pthread_barrier_destroy(&both);
}

// The first memory of an arena shares a page with what the C library knows of it.
static void* receives_into_the_start_of_its_arena(void* unused) {
  char* buffer = allocate(bytes);
  for (unsigned i = 0; i < 3; i++) {
    if (late(buffer, bytes, i)) expect_filled(buffer, bytes, i);
  }
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  free(buffer);
  return unused;
}

static void arena_is_in_use(void) {
  for (int i = 0; i < 2; i++) beside(receives_into_the_start_of_its_arena, NULL);
}

static FILE* stream;

static void* receives_beside_its_stream(void* unused) {
  stream = fopen("/dev/null", "w");
  char* buffer = allocate(bytes);
  for (unsigned i = 0; i < 3; i++) {
    if (late(buffer, bytes, i)) expect_filled(buffer, bytes, i);
  }
  flockfile(stream);
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  funlockfile(stream);
  free(buffer);
  return unused;
}

static void expect_locked(void) { EXPECT(ftrylockfile(stream) != 0, "a stream that another thread has locked is free"); }

static void stream_is_locked(void) {
  beside(receives_beside_its_stream, expect_locked);
  EXPECT_EQ(ftrylockfile(stream), 0);
  funlockfile(stream);
  fclose(stream);
}

static const Case cases[] = {CASE(arena_is_in_use, 2), CASE(stream_is_locked, 2)};
SUITE_AT_LEVEL(cases, MPI_THREAD_SERIALIZED)
