// MPI_THREAD_MULTIPLE: several threads of each rank access the same words, each with flushes of its own.
#include <pthread.h>

#include "rma.h"

enum { threads = 4, times = 200, long_words = 20000, words = long_words + 2 };

static MPI_Win win;

static void* accesses(void* argument) {
  const int which = (int)(long)argument;
  const long one = 1;
  long* ones = allocate(long_words * sizeof *ones);
  for (int i = 0; i < long_words; i++) ones[i] = 1;
  for (int i = 0; i < times; i++) {
    const int to = (rank + i) % size;
    long before = -1;
    MPI_Request open;
    MPI_Accumulate(&one, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, to, 1, MPI_SUM, win);
    if (i % 10 == 0) {
      MPI_Raccumulate(ones, long_words, MPI_LONG, to, 2, long_words, MPI_LONG, MPI_SUM, win, &open);
      MPI_Wait(&open, MPI_STATUS_IGNORE);
    }
    MPI_Win_flush_local(to, win);
    EXPECT(before >= 0, "nothing was fetched");
    if (i % 7 == which) MPI_Win_flush(to, win);
    if (i % 13 == which) MPI_Win_flush_all(win);
  }
  MPI_Win_flush_all(win);
  free(ones);
  return NULL;
}

static void threads_beside_each_other(void) {
  for (Kind kind = 0; kind < (Kind)first_kinds(); kind++) {
    Exposed shared = expose(kind, words * sizeof(long), sizeof(long));
    pthread_t started[threads];
    win = shared.win;
    MPI_Win_lock_all(0, win);
    for (long which = 0; which < threads; which++) pthread_create(&started[which], NULL, accesses, (void*)which);
    for (int which = 0; which < threads; which++) pthread_join(started[which], NULL);
    MPI_Win_unlock_all(win);
    MPI_Barrier(WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    const long* got = (const long*)shared.base;
    const long own[3] = {got[0], got[1], got[words - 1]};
    long sums[3];
    MPI_Win_unlock(rank, win);
    MPI_Allreduce(own, sums, 3, MPI_LONG, MPI_SUM, WORLD);
    EXPECT_EQ(sums[0], (long)size * threads * times);
    EXPECT_EQ(sums[1], (long)size * threads * times);
    EXPECT_EQ(sums[2], (long)size * threads * times / 10);
    conceal(&shared);
  }
}

static const Case cases[] = {CASE(threads_beside_each_other, 2)};
SUITE_AT_LEVEL(cases, MPI_THREAD_MULTIPLE)
