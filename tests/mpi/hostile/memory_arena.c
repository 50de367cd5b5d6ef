// Buffers from the arenas of threads, which shrink, grow and go with their threads.
#include <malloc.h>
#include <pthread.h>

#include "hostile.h"

enum { bytes = 100000, rounds = 6 };

static void* memory[4];

static void* allocates(void* unused) {
  for (int i = 0; i < 4; i++) memset(memory[i] = allocate(bytes), i, bytes);
  return unused;
}

static void* frees(void* unused) {
  for (int i = 0; i < 4; i++) free(memory[i]);
  malloc_trim(0);
  return unused;
}

static void* allocates_and_fills(void* seed) {
  for (int i = 0; i < 4; i++) memset(memory[i] = allocate(bytes), *(int*)seed, bytes);
  return NULL;
}

static void in_thread(void* (*run)(void*), void* argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, argument);
  pthread_join(thread, NULL);
}

static void freed_by_a_thread(void) {
  for (int i = 0; i < rounds; i++) {
    in_thread(allocates, NULL);
    late(memory[i % 4], bytes, (unsigned)i);
    in_thread(frees, NULL);
    in_thread(allocates_and_fills, &i);
    pause_ms(14);
    for (int j = 0; j < 4; j++) {
      expect_all(memory[j], bytes, i);
      free(memory[j]);
    }
  }
}

// The thread receives by itself, into the first memory of its arena, and frees it.
static void* receives_and_frees(void* seed) {
  char* buffer = allocate(bytes);
  const int received = late(buffer, bytes, *(unsigned*)seed);
  free(buffer);
  malloc_trim(0);
  char* next = calloc(bytes, 1);
  expect_all(next, bytes, 0);
  pause_ms(14);
  expect_all(next, bytes, 0);
  free(next);
  buffer = allocate(bytes);
  if (late(buffer, bytes, 50) && received) expect_filled(buffer, bytes, 50);
  return buffer;
}

static void received_by_a_thread(void) {
  for (unsigned i = 0; i < rounds; i++) {
    pthread_t thread;
    void* buffer = NULL;
    pthread_create(&thread, NULL, receives_and_frees, &i);
    pthread_join(thread, &buffer);
    free(buffer);
  }
}

static void* buffer_in_arena;

static void* one_large(void* unused) {
  buffer_in_arena = allocate(bytes);
  return unused;
}

static void thread_is_gone_when_its_memory_is_received_into(void) {
  for (unsigned i = 0; i < rounds; i++) {
    in_thread(one_large, NULL);
    if (late(buffer_in_arena, bytes, i)) expect_filled(buffer_in_arena, bytes, i);
    free(buffer_in_arena);
  }
}

static const Case cases[] = {CASE(freed_by_a_thread, 2), CASE(received_by_a_thread, 2),
                             CASE(thread_is_gone_when_its_memory_is_received_into, 2)};
SUITE_AT_LEVEL(cases, MPI_THREAD_SERIALIZED)
