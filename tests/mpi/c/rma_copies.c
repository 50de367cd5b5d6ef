// MPI_Put and MPI_Get: lengths, datatypes, displacements, requests, and windows whose memory messages use.
#include "rma.h"

static const int lengths[] = {0, 1, 7, 8, 9, 63, 64, 511, 512, 4095, 4096, 4097, 65537, 1000003};
enum { most = 1000003, count_of_lengths = sizeof lengths / sizeof *lengths };

static void put_to_the_right(void) {
  char* own = allocate(most);
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, most + 1, 1);
    MPI_Win_fence(0, shared.win);
    for (int l = 0; l < count_of_lengths; l++) {
      fill(own, (size_t)lengths[l], (unsigned)(100 * rank + l));
      MPI_Put(own, lengths[l], MPI_BYTE, right(), 1, lengths[l], MPI_BYTE, shared.win);
      MPI_Win_fence(0, shared.win);
      expect_filled(shared.base + 1, (size_t)lengths[l], (unsigned)(100 * left() + l));
      EXPECT_EQ(shared.base[0], 0);
      MPI_Win_fence(0, shared.win);
    }
    conceal(&shared);
  }
  free(own);
}

static void get_from_the_right(void) {
  char* own = allocate(most + 1);
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, most, 1);
    for (int l = 0; l < count_of_lengths; l++) {
      fill(shared.base, (size_t)lengths[l], (unsigned)(100 * rank + l));
      memset(own, 0x77, (size_t)lengths[l] + 1);
      MPI_Win_fence(0, shared.win);
      MPI_Get(own, lengths[l], MPI_BYTE, right(), 0, lengths[l], MPI_BYTE, shared.win);
      MPI_Win_fence(0, shared.win);
      expect_filled(own, (size_t)lengths[l], (unsigned)(100 * right() + l));
      EXPECT_EQ(own[lengths[l]], 0x77);
    }
    conceal(&shared);
  }
  free(own);
}

// Each rank puts to all, itself too, into its own place there.
static void put_to_all(void) {
  enum { ints = 300 };
  int own[ints];
  for (int i = 0; i < ints; i++) own[i] = 1000 * rank + i;
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, (size_t)size * sizeof own, sizeof(int));
    MPI_Win_fence(0, shared.win);
    for (int to = 0; to < size; to++) MPI_Put(own, ints, MPI_INT, to, (MPI_Aint)rank * ints, ints, MPI_INT, shared.win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, shared.win);
    for (int from = 0; from < size; from++) {
      for (int i = 0; i < ints; i++) EXPECT_EQ(((int*)shared.base)[from * ints + i], 1000 * from + i);
    }
    conceal(&shared);
  }
}

// Types with gaps on either side, on both, and on none.
static void types_with_gaps(void) {
  enum { elements = 600 };
  MPI_Datatype apart, backwards, resized;
  MPI_Type_vector(elements, 1, 2, MPI_INT, &apart);
  int blocks[elements], places[elements];
  for (int i = 0; i < elements; i++) {
    blocks[i] = 1;
    places[i] = elements - 1 - i;
  }
  MPI_Type_indexed(elements, blocks, places, MPI_INT, &backwards);
  MPI_Type_create_resized(MPI_INT, -4, 12, &resized);
  MPI_Datatype types[] = {MPI_INT, apart, backwards, resized};
  const int counts[] = {elements, 1, 1, elements};
  for (int t = 1; t < 4; t++) MPI_Type_commit(&types[t]);
  int* own = allocate(3 * elements * sizeof(int));
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 3 * elements * sizeof(int), sizeof(int));
    int* memory = (int*)shared.base;
    const int starts[] = {0, 0, 0, 0};
    for (int from = 0; from < 4; from++) {
      for (int to = 0; to < 4; to++) {
        for (int gets = 0; gets < 2; gets++) {
          int* source = gets ? memory : own;
          int* target = gets ? own : memory;
          for (int i = 0; i < 3 * elements; i++) {
            source[i] = 10000 * (rank + 1) + i;
            target[i] = -1;
          }
          const int there = gets ? from : to;
          const int here = gets ? to : from;
          MPI_Win_fence(0, shared.win);
          if (gets) {
            MPI_Get(own, counts[here], types[here], right(), starts[there], counts[there], types[there], shared.win);
          } else {
            MPI_Put(own, counts[here], types[here], right(), starts[there], counts[there], types[there], shared.win);
          }
          MPI_Win_fence(0, shared.win);
          const int origin = gets ? right() : left();
          for (int k = 0; k < elements; k++) {
            const int places_of[] = {k, 2 * k, elements - 1 - k, 3 * k};
            EXPECT_EQ(target[places_of[to]], 10000 * (origin + 1) + places_of[from]);
          }
          int untouched = 0;
          for (int i = 0; i < 3 * elements; i++) untouched += target[i] == -1;
          EXPECT_EQ(untouched, 2 * elements);
          MPI_Barrier(WORLD);
        }
      }
    }
    conceal(&shared);
  }
  for (int t = 1; t < 4; t++) MPI_Type_free(&types[t]);
  free(own);
}

// The unit is the target's.
static void units_of_each(void) {
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 4096, rank + 1);
    MPI_Win_fence(0, shared.win);
    const char sent = (char)(rank + 1);
    MPI_Put(&sent, 1, MPI_CHAR, right(), 100, 1, MPI_CHAR, shared.win);
    MPI_Win_fence(0, shared.win);
    EXPECT_EQ(shared.base[100 * (rank + 1)], left() + 1);
    conceal(&shared);
  }
}

static void requests(void) {
  enum { ints = 1000 };
  int *own = allocate(ints * sizeof(int)), *got = allocate(ints * sizeof(int));
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, ints * sizeof(int), sizeof(int));
    MPI_Win_lock_all(0, shared.win);
    for (int i = 0; i < ints; i++) own[i] = 7 * rank + i;
    MPI_Request all[3];
    MPI_Status statuses[3];
    int word = -1;
    MPI_Irecv(&word, 1, MPI_INT, left(), 5, WORLD, &all[1]);
    MPI_Rput(own, ints, MPI_INT, right(), 0, ints, MPI_INT, shared.win, &all[0]);
    MPI_Isend(&rank, 1, MPI_INT, right(), 5, WORLD, &all[2]);
    MPI_Waitall(3, all, statuses);
    EXPECT_EQ(word, left());
    EXPECT(all[0] == MPI_REQUEST_NULL, "the request is still there");
    MPI_Win_flush(right(), shared.win);
    MPI_Barrier(WORLD);
    MPI_Request one;
    int done = 0;
    MPI_Rget(got, ints, MPI_INT, right(), 0, ints, MPI_INT, shared.win, &one);
    while (!done) MPI_Test(&one, &done, MPI_STATUS_IGNORE);
    for (int i = 0; i < ints; i++) EXPECT_EQ(got[i], 7 * rank + i);
    MPI_Rget(got, 1, MPI_INT, rank, 1, 1, MPI_INT, shared.win, &one);
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    EXPECT_EQ(got[0], 7 * left() + 1);
    MPI_Win_unlock_all(shared.win);
    conceal(&shared);
  }
  free(own);
  free(got);
}

static void no_process(void) {
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 64, 1);
    int word = 5;
    MPI_Win_fence(0, shared.win);
    EXPECT_EQ(MPI_Put(&word, 1, MPI_INT, MPI_PROC_NULL, 1000, 1, MPI_INT, shared.win), MPI_SUCCESS);
    EXPECT_EQ(MPI_Get(&word, 1, MPI_INT, MPI_PROC_NULL, 1000, 1, MPI_INT, shared.win), MPI_SUCCESS);
    EXPECT_EQ(MPI_Accumulate(&word, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, shared.win), MPI_SUCCESS);
    MPI_Win_fence(0, shared.win);
    EXPECT_EQ(word, 5);
    conceal(&shared);
  }
}

// Messages between windows, late ones too, and accesses to what they have brought.
static void messages_into_windows(void) {
  enum { bytes = 400000 };
  char* got = allocate(bytes);
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, 2 * bytes, 1);
    for (int round = 0; round < 8; round++) {
      const unsigned seed = (unsigned)(100 * round);
      fill(shared.base, bytes, seed + (unsigned)rank);
      MPI_Win_fence(0, shared.win);
      if (rank == round % size) be_late();
      MPI_Sendrecv(shared.base, bytes, MPI_BYTE, right(), 1, shared.base + bytes, bytes, MPI_BYTE, left(), 1, WORLD,
                   MPI_STATUS_IGNORE);
      MPI_Win_fence(0, shared.win);
      MPI_Get(got, bytes, MPI_BYTE, right(), bytes, bytes, MPI_BYTE, shared.win);
      MPI_Win_fence(0, shared.win);
      expect_filled(got, bytes, seed + (unsigned)rank);
    }
    conceal(&shared);
  }
  free(got);
}

// Origin buffers into which a receive may have returned early, and their neighbours on one page.
static void buffers_of_late_messages(void) {
  enum { bytes = 600000 };
  char* buffer = allocate(bytes + 64);
  for (Kind kind = 0; kind < kinds; kind++) {
    Exposed shared = expose(kind, bytes, 1);
    for (int round = 0; round < 8; round++) {
      const unsigned seed = (unsigned)round;
      MPI_Win_fence(0, shared.win);
      if (rank == 0) {
        char* sent = allocate(bytes);
        fill(sent, bytes, seed);
        be_late();
        for (int to = 1; to < size; to++) MPI_Send(sent, bytes, MPI_BYTE, to, 1, WORLD);
        free(sent);
      } else {
        MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, WORLD, MPI_STATUS_IGNORE);
        memset(buffer + bytes, round, 64);
        if (round % 2) {
          MPI_Put(buffer, bytes, MPI_BYTE, rank, 0, bytes, MPI_BYTE, shared.win);
        } else {
          MPI_Put(buffer + bytes, 64, MPI_BYTE, rank, 0, 64, MPI_BYTE, shared.win);
        }
      }
      MPI_Win_fence(0, shared.win);
      if (rank != 0 && round % 2) expect_filled(shared.base, bytes, seed);
      if (rank != 0 && round % 2 == 0) expect_all(shared.base, 64, round);
      if (rank != 0) expect_filled(buffer, bytes, seed);
    }
    conceal(&shared);
  }
  free(buffer);
}

static const Case cases[] = {
    CASE(put_to_the_right, 1), CASE(get_from_the_right, 1),    CASE(put_to_all, 1),
    CASE(types_with_gaps, 1),  CASE(units_of_each, 1),         CASE(requests, 1),
    CASE(no_process, 1),       CASE(messages_into_windows, 2), CASE(buffers_of_late_messages, 2),
};
SUITE(cases)
