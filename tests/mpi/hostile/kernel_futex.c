// Locks, condition variables and semaphores that share a page with receive buffers, and threads that use and await them while
// messages are received. The C library ends a program whose futex the kernel cannot read.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

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

// A signal makes the kernel look at the futex of a sleeping thread once more.
static void on_signal(int signal) { (void)signal; }

static void signals_to_sleeping_threads(void) {
  begin();
  const int receives = rank % 2 != 0;
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  pthread_t threads[2];
  if (receives) {
    pthread_create(&threads[0], NULL, awaits_condition, NULL);
    pthread_create(&threads[1], NULL, awaits_semaphore, NULL);
    pause_ms(3);
  }
  for (unsigned i = 0; i < 10; i++) {
    const int received = late(n.buffer, large, i);
    for (int j = 0; receives && j < 2; j++) pthread_kill(threads[j], SIGUSR1);
    if (receives) pause_ms(1);
    if (received) expect_filled(n.buffer, large, i);
  }
  if (!receives) return;
  pthread_mutex_lock(&shared->mutex);
  shared->ending = 1;
  pthread_cond_broadcast(&shared->changed);
  pthread_mutex_unlock(&shared->mutex);
  sem_post(&shared->semaphore);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  unmap_neighbours(n);
}

static void elsewhere(void) {
  char* buffer = map(large);
  if (late(buffer, large, 3)) expect_filled(buffer, large, 3);
  munmap(buffer, large);
}

static const Case cases[] = {CASE(threads_that_contend_for_a_mutex, 2), CASE(threads_that_await_a_condition, 2),
                             CASE(threads_that_await_a_semaphore, 2), CASE(signals_to_sleeping_threads, 2), CASE(elsewhere, 2)};
SUITE(cases)
