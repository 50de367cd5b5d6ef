// Buffers on stacks and in thread-local storage, which lies next to what every thread needs all the time.
#include <pthread.h>
#include <ucontext.h>

#include "hostile.h"

enum { bytes = 200000, rounds = 4 };

static __thread char local[bytes];
static __thread char initialised[bytes] = {1, 2, 3};
static __thread int touched;

static void* in_local(void* unused) {
  for (unsigned i = 0; i < rounds; i++) {
    if (late(local, bytes, i)) {
      touched++;
      expect_filled(local, bytes, i);
    }
    if (late(initialised, bytes, i + 10)) {
      touched++;
      expect_filled(initialised, bytes, i + 10);
    }
  }
  return unused;
}

static __attribute__((noinline)) void* on_stack(void* unused) {
  char buffer[bytes];
  for (unsigned i = 0; i < rounds; i++) {
    if (late(buffer, bytes, i)) expect_filled(buffer, bytes, i);
  }
  return unused;
}

static void in_thread(void* (*run)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
}

static void thread_local_of_the_main_thread(void) { in_local(NULL); }
static void thread_local_of_a_thread(void) { in_thread(in_local); }
static void stack_of_the_main_thread(void) { on_stack(NULL); }
static void stack_of_a_thread(void) { in_thread(on_stack); }

static char* others_stack;
static pthread_barrier_t meeting;

static void* lends_its_stack(void* unused) {
  char buffer[bytes];
  others_stack = buffer;
  pthread_barrier_wait(&meeting);
  pthread_barrier_wait(&meeting);
  return unused;
}

static void stack_of_another_thread(void) {
  pthread_t thread;
  pthread_barrier_init(&meeting, NULL, 2);
  pthread_create(&thread, NULL, lends_its_stack, NULL);
  pthread_barrier_wait(&meeting);
  for (unsigned i = 0; i < rounds; i++) {
    if (late(others_stack, bytes, i)) expect_filled(others_stack, bytes, i);
  }
  pthread_barrier_wait(&meeting);
  pthread_join(thread, NULL);
}

static ucontext_t here, there;

static void on_its_own_stack(void) {
  on_stack(NULL);
  swapcontext(&there, &here);
}

static void stack_that_the_program_made(void) {
  char* stack = map(4 * MB);
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = 4 * MB;
  makecontext(&there, on_its_own_stack, 0);
  swapcontext(&here, &there);
  munmap(stack, 4 * MB);
}

static void heap_as_well(void) {
  char* buffer = map(bytes);
  if (late(buffer, bytes, 3)) expect_filled(buffer, bytes, 3);
  munmap(buffer, bytes);
}

static const Case cases[] = {CASE(thread_local_of_the_main_thread, 2),
                             CASE(thread_local_of_a_thread, 2),
                             CASE(stack_of_the_main_thread, 2),
                             CASE(stack_of_a_thread, 2),
                             CASE(stack_of_another_thread, 2),
                             CASE(stack_that_the_program_made, 2),
                             CASE(heap_as_well, 2)};
SUITE_AT_LEVEL(cases, MPI_THREAD_SERIALIZED)
