// Locks, condition variables and semaphores that share a page with receive buffers, and threads that use and await them while
// messages are received. The C library ends a program whose futex the kernel cannot read.
#include <pthread.h>
#include <semaphore.h>

#include "hostile.h"

enum { rounds = 60, workers = 3 };

typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  sem_t semaphore;
  int ending;
  long counter;
} Shared;

static Neighbours n;
static Shared* shared;

static void begin(void) {
  n = map_neighbours();
  shared = (Shared*)n.before;
  pthread_mutex_init(&shared->mutex, NULL);
  pthread_cond_init(&shared->changed, NULL);
  sem_init(&shared->semaphore, 0, 0);
  shared->ending = 0;
  shared->counter = 0;
}

static void* contends(void* unused) {
  for (int ending = 0; !ending;) {
    pthread_mutex_lock(&shared->mutex);
    shared->counter++;
    ending = shared->ending;
    pthread_mutex_unlock(&shared->mutex);
  }
  return unused;
}

static void* awaits_condition(void* unused) {
  pthread_mutex_lock(&shared->mutex);
  while (!shared->ending) {
    const long seen = shared->counter;
    while (seen == shared->counter && !shared->ending) pthread_cond_wait(&shared->changed, &shared->mutex);
  }
  pthread_mutex_unlock(&shared->mutex);
  return unused;
}

static void* awaits_semaphore(void* unused) {
  for (;;) {
    sem_wait(&shared->semaphore);
    if (shared->ending) return unused;
  }
}

static void receive_beside(void* (*works)(void*)) {
  begin();
  pthread_t threads[workers];
  const int receives = rank % 2 != 0;
  for (int i = 0; receives && i < workers; i++) pthread_create(&threads[i], NULL, works, NULL);
  for (unsigned i = 0; i < rounds; i++) {
    const int received = late(n.buffer, large, i);
    if (!receives) continue;
    pthread_mutex_lock(&shared->mutex);
    shared->counter++;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->mutex);
    sem_post(&shared->semaphore);
    if (received) expect_filled(n.buffer, large, i);
  }
  if (!receives) return;
  pthread_mutex_lock(&shared->mutex);
  shared->ending = 1;
  pthread_cond_broadcast(&shared->changed);
  pthread_mutex_unlock(&shared->mutex);
  for (int i = 0; i < workers; i++) sem_post(&shared->semaphore);
  for (int i = 0; i < workers; i++) pthread_join(threads[i], NULL);
  unmap_neighbours(n);
}

static void threads_that_contend_for_a_mutex(void) { receive_beside(contends); }
static void threads_that_await_a_condition(void) { receive_beside(awaits_condition); }
static void threads_that_await_a_semaphore(void) { receive_beside(awaits_semaphore); }

static const Case cases[] = {CASE(threads_that_contend_for_a_mutex, 2), CASE(threads_that_await_a_condition, 2),
                             CASE(threads_that_await_a_semaphore, 2)};
SUITE(cases)
