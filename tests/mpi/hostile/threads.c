// MPI_THREAD_MULTIPLE: threads that receive into neighbouring buffers, read what another thread received, or work on the pages
// that a buffer shares with other data.
#include <pthread.h>

#include "suite.h"

enum { threads = 4, rounds = 8, margin = 1000, part = 3 * MB + margin };

static int partner(void) { return rank ^ 1; }
static int receives(void) { return rank % 2 != 0 && partner() < size; }
static int sends(void) { return rank % 2 == 0 && partner() < size; }

static void in_threads(int count, void* (*body)(void*)) {
  pthread_t started[threads];
  for (long i = 0; i < count; i++) pthread_create(&started[i], NULL, body, (void*)i);
  for (long i = 0; i < count; i++) pthread_join(started[i], NULL);
}

// Known to the receiver at once, there late: whoever only waits for the announcement has nothing yet.
static void send_part(int tag, unsigned seed) {
  char* sent = allocate(part);
  MPI_Request request;
  fill(sent, part, seed);
  MPI_Isend(sent, part, MPI_BYTE, partner(), tag, WORLD, &request);
  be_late();
  MPI_Wait(&request, IGNORE);
  free(sent);
}

static unsigned seed_of(long thread, int round) { return (unsigned)(thread * rounds + round); }

// Buffer i ends and buffer i + 1 begins in the middle of a page.
static char* region;

static void* one_part_each(void* argument) {
  const long i = (long)argument;
  for (int round = 0; round < rounds; round++) {
    if (sends()) send_part((int)i, seed_of(i, round));
    if (!receives()) continue;
    MPI_Recv(region + i * part, part, MPI_BYTE, partner(), (int)i, WORLD, IGNORE);
    expect_filled(region + i * part, part, seed_of(i, round));
  }
  return NULL;
}

static void neighbouring_buffers(void) {
  region = allocate((size_t)threads * part);
  in_threads(threads, one_part_each);
  if (receives()) note_bytes(region, (size_t)threads * part);
  free(region);
}

// The same, and what was received is overwritten at once, to the last byte.
static void* overwritten(void* argument) {
  const long i = (long)argument;
  for (int round = 0; round < rounds; round++) {
    if (sends()) send_part((int)i, seed_of(i, round));
    if (!receives()) continue;
    MPI_Recv(region + i * part, part, MPI_BYTE, partner(), (int)i, WORLD, IGNORE);
    memset(region + i * part, (int)i + 1, part);
    pause_ms(1);
    expect_all(region + i * part, part, (int)i + 1);
  }
  return NULL;
}

static void neighbouring_buffers_overwritten(void) {
  region = allocate((size_t)threads * part);
  in_threads(threads, overwritten);
  free(region);
}

static pthread_barrier_t received;

static void* a_quarter_each(void* argument) {
  const long i = (long)argument;
  for (int round = 0; round < rounds; round++) {
    if (i == 0) MPI_Recv(region, part, MPI_BYTE, partner(), 0, WORLD, IGNORE);
    pthread_barrier_wait(&received);
    const size_t quarter = part / threads;
    expect_part_filled(region, (size_t)i * quarter, (size_t)(i + 1) * quarter, (unsigned)round);
    pthread_barrier_wait(&received);
  }
  return NULL;
}

static void one_thread_receives_and_all_read(void) {
  region = allocate(part);
  pthread_barrier_init(&received, NULL, threads);
  if (receives()) in_threads(threads, a_quarter_each);
  for (int round = 0; round < rounds && sends(); round++) send_part(0, (unsigned)round);
  pthread_barrier_destroy(&received);
  free(region);
}

// A counter on the first page of a buffer, and one on its last, which two threads increment while a third receives.
static volatile int receiving;
static uint64_t counted[2];

static void* count_beside(void* argument) {
  const long i = (long)argument;
  if (i == 0) {
    for (int round = 0; round < rounds; round++) {
      MPI_Recv(region + margin, part, MPI_BYTE, partner(), 0, WORLD, IGNORE);
      expect_filled(region + margin, part, (unsigned)round);
    }
    receiving = 0;
    return NULL;
  }
  volatile uint64_t* counter = (volatile uint64_t*)(i == 1 ? region + 8 : region + 2 * margin + part);
  while (receiving) {
    *counter = *counter + 1;
    ++counted[i - 1];
  }
  EXPECT_EQ(*counter, counted[i - 1]);
  return NULL;
}

static void counters_on_shared_pages(void) {
  region = calloc(1, part + 4 * margin);
  receiving = 1;
  counted[0] = counted[1] = 0;
  if (receives()) in_threads(3, count_beside);
  for (int round = 0; round < rounds && sends(); round++) send_part(0, (unsigned)round);
  free(region);
}

static const Case cases[] = {{"neighbouring_buffers", 2, neighbouring_buffers},
                             {"neighbouring_buffers_overwritten", 2, neighbouring_buffers_overwritten},
                             {"one_thread_receives_and_all_read", 2, one_thread_receives_and_all_read},
                             {"counters_on_shared_pages", 2, counters_on_shared_pages}};
SUITE_AT_LEVEL(cases, MPI_THREAD_MULTIPLE)
