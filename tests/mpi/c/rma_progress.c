// What origins ask of a target that is not in MPI, and operations that are under way when their calls return.
#include "rma.h"

enum { long_words = 200000 };  // no message of eager mode

// Without a call of MPI: for a second, and until the word is there.
static int compute_until(const volatile int* word, int wanted) {
  const double start = seconds_now();
  while (seconds_now() < start + 1 || (*word != wanted && seconds_now() < start + 20)) continue;
  return *word;
}

// Rank 0 computes. Meanwhile all is complete that others ask of it, and they tell so in a word of its memory.
static void target_computes_for_a_second(void) {
  for (Kind kind = 0; kind < (Kind)first_kinds(); kind++) {
    const size_t words = (size_t)size * long_words + 2;
    Exposed shared = expose(kind, words * sizeof(int), sizeof(int));
    int* sent = allocate(long_words * sizeof(int));
    for (int i = 0; i < long_words; i++) sent[i] = rank * 7 + i;
    MPI_Win_lock_all(0, shared.win);
    MPI_Barrier(WORLD);
    if (rank == 0) {
      EXPECT_EQ(compute_until((const volatile int*)shared.base + 1, size - 1), size - 1);
    } else {
      const int one = 1;
      int before = -1, first = -1;
      MPI_Put(sent, 1, MPI_INT, 0, 2 + rank * long_words, 1, MPI_INT, shared.win);
      MPI_Win_flush(0, shared.win);
      MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, shared.win);
      MPI_Win_flush(0, shared.win);
      EXPECT(before >= 0 && before < size - 1, "%d before", before);
      MPI_Put(sent, long_words, MPI_INT, 0, 2 + rank * long_words, long_words, MPI_INT, shared.win);
      MPI_Win_flush(0, shared.win);
      MPI_Accumulate(sent, long_words, MPI_INT, 0, 2 + rank * long_words, long_words, MPI_INT, MPI_SUM, shared.win);
      MPI_Win_flush(0, shared.win);
      MPI_Get(&first, 1, MPI_INT, 0, 2 + rank * long_words, 1, MPI_INT, shared.win);
      MPI_Win_flush(0, shared.win);
      EXPECT_EQ(first, 2 * sent[0]);
      MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, shared.win);
    }
    MPI_Win_unlock_all(shared.win);
    MPI_Barrier(WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, shared.win);
    const int* got = (const int*)shared.base;
    if (rank == 0) EXPECT_EQ(got[0], size - 1);
    for (int from = 1; rank == 0 && from < size; from++) {
      for (int i = 0; i < long_words; i += 997) EXPECT_EQ(got[2 + from * long_words + i], 2 * (from * 7 + i));
    }
    MPI_Win_unlock(rank, shared.win);
    conceal(&shared);
    free(sent);
  }
}

// Requests are waited for before the flush, after it, in another order, and not at all.
static void requests(void) {
  enum { parts = 6 };
  for (Kind kind = 0; kind < (Kind)first_kinds(); kind++) {
    Exposed shared = expose(kind, parts * long_words * sizeof(int), sizeof(int));
    int* sent = allocate(long_words * sizeof(int));
    int* got = allocate(2 * long_words * sizeof(int));
    for (int i = 0; i < long_words; i++) sent[i] = rank + i;
    const int to = right();
    MPI_Request open[parts];
    MPI_Win_lock_all(0, shared.win);
    for (int part = 0; part < 4; part++)
      MPI_Rput(sent, long_words, MPI_INT, to, part * long_words, long_words, MPI_INT, shared.win, &open[part]);
    MPI_Rput(sent, 1, MPI_INT, to, 4 * long_words, 1, MPI_INT, shared.win, &open[4]);
    MPI_Wait(&open[2], MPI_STATUS_IGNORE);
    EXPECT(open[2] == MPI_REQUEST_NULL, "the request is still there");
    MPI_Request_free(&open[3]);
    MPI_Win_flush(to, shared.win);
    MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
    MPI_Wait(&open[4], MPI_STATUS_IGNORE);
    MPI_Raccumulate(sent, long_words, MPI_INT, to, 0, long_words, MPI_INT, MPI_SUM, shared.win, &open[0]);
    MPI_Rget_accumulate(sent, long_words, MPI_INT, got, long_words, MPI_INT, to, 0, long_words, MPI_INT, MPI_SUM, shared.win,
                        &open[1]);
    MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
    for (int i = 0; i < long_words; i += 991) EXPECT_EQ(got[i], 2 * sent[i]);
    MPI_Rget(got, long_words, MPI_INT, to, 0, long_words, MPI_INT, shared.win, &open[0]);
    MPI_Rget(got + long_words, long_words, MPI_INT, to, 3 * long_words, long_words, MPI_INT, shared.win, &open[1]);
    int open_ones = 2;
    while (open_ones > 0) {
      int which = MPI_UNDEFINED, flag = 0;
      MPI_Testany(2, open, &which, &flag, MPI_STATUS_IGNORE);
      if (flag && which != MPI_UNDEFINED) open_ones--;
    }
    for (int i = 0; i < long_words; i += 991) EXPECT_EQ(got[i], 3 * sent[i]);
    for (int i = 0; i < long_words; i += 991) EXPECT_EQ(got[long_words + i], sent[i]);
    MPI_Win_unlock_all(shared.win);
    MPI_Barrier(WORLD);
    EXPECT_EQ(((int*)shared.base)[4 * long_words], left());
    conceal(&shared);
    free(sent);
    free(got);
  }
}

// All accumulate to the same long vector at once, and each to its own right neighbour's words in an order that shows.
static void accumulates_meet(void) {
  enum { times = 4 };
  for (Kind kind = 0; kind < (Kind)first_kinds(); kind++) {
    Exposed shared = expose(kind, (long_words + 1) * sizeof(long), sizeof(long));
    long* ones = allocate(long_words * sizeof(long));
    for (int i = 0; i < long_words; i++) ones[i] = 1 + i % 3;
    MPI_Win_fence(0, shared.win);
    for (int i = 0; i < times; i++) MPI_Accumulate(ones, long_words, MPI_LONG, 0, 0, long_words, MPI_LONG, MPI_SUM, shared.win);
    for (long value = 0; value < 50; value++)
      MPI_Accumulate(&value, 1, MPI_LONG, right(), long_words, 1, MPI_LONG, MPI_REPLACE, shared.win);
    MPI_Win_fence(0, shared.win);
    const long* sums = (const long*)shared.base;
    for (int i = 0; rank == 0 && i < long_words; i++) EXPECT_EQ(sums[i], (long)times * size * (1 + i % 3));
    EXPECT_EQ(sums[long_words], 0L + 49);
    conceal(&shared);
    free(ones);
  }
}

// A target that only many blocks describe, of which no one is like another.
static void many_blocks(void) {
  enum { blocks = 5000 };
  for (Kind kind = 0; kind < (Kind)first_kinds(); kind++) {
    Exposed shared = expose(kind, 16 * blocks * sizeof(short), sizeof(short));
    int* lengths = allocate(blocks * sizeof(int));
    int* places = allocate(blocks * sizeof(int));
    int all = 0;
    for (int i = 0; i < blocks; i++) {
      lengths[i] = 1 + i * i % 5;
      places[i] = 16 * (blocks - 1 - i) + i % 7;
      all += lengths[i];
    }
    MPI_Datatype scattered;
    MPI_Type_indexed(blocks, lengths, places, MPI_SHORT, &scattered);
    MPI_Type_commit(&scattered);
    short* sent = allocate((size_t)all * sizeof *sent);
    short* got = allocate((size_t)all * sizeof *got);
    for (int i = 0; i < all; i++) sent[i] = (short)(i + rank);
    MPI_Win_fence(0, shared.win);
    MPI_Put(sent, all, MPI_SHORT, right(), 0, 1, scattered, shared.win);
    MPI_Win_fence(0, shared.win);
    MPI_Accumulate(sent, all, MPI_SHORT, right(), 0, 1, scattered, MPI_SUM, shared.win);
    MPI_Win_fence(0, shared.win);
    MPI_Get(got, all, MPI_SHORT, right(), 0, 1, scattered, shared.win);
    MPI_Win_fence(0, shared.win);
    for (int i = 0; i < all; i++) EXPECT_EQ(got[i], (short)(2 * sent[i]));
    const short* words = (const short*)shared.base;
    EXPECT_EQ(words[16 * (blocks - 1)], (short)(2 * left()));
    EXPECT_EQ(words[16 * (blocks - 1) + 1], 0);
    MPI_Type_free(&scattered);
    conceal(&shared);
    free(sent);
    free(got);
    free(lengths);
    free(places);
  }
}

static const Case cases[] = {
    CASE(target_computes_for_a_second, 2),
    CASE(requests, 2),
    CASE(accumulates_meet, 2),
    CASE(many_blocks, 2),
};
SUITE(cases)
