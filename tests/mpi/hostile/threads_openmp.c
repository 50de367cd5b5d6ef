// OpenMP loops over buffers that were received a moment ago: all threads of the team touch them first, together.
#ifndef _OPENMP
#error "without -fopenmp this shows nothing"
#endif
#include "suite.h"

enum { count = 150000, halo = 5000, blocks = 8, rounds = 6 };

static int partner(void) { return rank ^ 1; }

static double value(int seed, int i) { return seed * 1000003.0 + i; }

// True on the rank that received `count` numbers of series `seed` in `numbers`.
static int late_numbers(double* numbers, int seed) {
  if (partner() >= size) return 0;
  if (rank % 2 != 0) return MPI_Recv(numbers, count, MPI_DOUBLE, partner(), 1, WORLD, IGNORE) == MPI_SUCCESS;
  double* sent = allocate(count * sizeof *sent);
  for (int i = 0; i < count; i++) sent[i] = value(seed, i);
  be_late();
  MPI_Send(sent, count, MPI_DOUBLE, partner(), 1, WORLD);
  free(sent);
  return 0;
}

static void reduced(void) {
  double* numbers = allocate(count * sizeof *numbers);
  for (int round = 0; round < rounds; round++) {
    if (!late_numbers(numbers, round)) continue;
    long wrong = 0;
#pragma omp parallel for num_threads(4) reduction(+ : wrong)
    for (int i = 0; i < count; i++) wrong += numbers[i] != value(round, i);
    EXPECT_EQ(wrong, 0);
  }
  free(numbers);
}

static void changed_in_place(void) {
  double* numbers = allocate(count * sizeof *numbers);
  for (int round = 0; round < rounds; round++) {
    if (!late_numbers(numbers, round)) continue;
#pragma omp parallel for num_threads(4) schedule(static, 100)
    for (int i = 0; i < count; i++) numbers[i] = 2 * numbers[i] + 1;
    pause_ms(1);
    long wrong = 0;
    for (int i = 0; i < count; i++) wrong += numbers[i] != 2 * value(round, i) + 1;
    EXPECT_EQ(wrong, 0);
  }
  free(numbers);
}

// Receives that end and begin in the middle of a page, completed together; each block is worked on by whichever thread is free.
static void neighbouring_blocks(void) {
  double* all = allocate((size_t)blocks * count * sizeof *all);
  MPI_Request requests[blocks];
  for (int round = 0; round < rounds && partner() < size; round++) {
    if (rank % 2 == 0) {
      for (int b = 0; b < blocks; b++) {
        for (int i = 0; i < count; i++) all[b * count + i] = value(round * blocks + b, i);
      }
      be_late();
      for (int b = 0; b < blocks; b++) MPI_Isend(all + b * count, count, MPI_DOUBLE, partner(), b, WORLD, &requests[b]);
      MPI_Waitall(blocks, requests, MPI_STATUSES_IGNORE);
      continue;
    }
    for (int b = 0; b < blocks; b++) MPI_Irecv(all + b * count, count, MPI_DOUBLE, partner(), b, WORLD, &requests[b]);
    MPI_Waitall(blocks, requests, MPI_STATUSES_IGNORE);
    long wrong = 0;
#pragma omp parallel for num_threads(4) schedule(dynamic) reduction(+ : wrong)
    for (int b = blocks - 1; b >= 0; b--) {
      for (int i = count - 1; i >= 0; i--) wrong += all[b * count + i] != value(round * blocks + b, i);
    }
    EXPECT_EQ(wrong, 0);
  }
  free(all);
}

// The inner part of a field is worked on while the rim is still on its way; one thread turns to the rim when it likes.
static void rim_beside_the_inner_part(void) {
  double* field = allocate((count + 2 * halo) * sizeof *field);
  double* inner = field + halo;
  for (int round = 0; round < rounds && partner() < size; round++) {
    if (rank % 2 == 0) {
      for (int i = 0; i < halo; i++) field[i] = field[halo + count + i] = value(round, i);
      be_late();
      MPI_Send(field, halo, MPI_DOUBLE, partner(), 1, WORLD);
      MPI_Send(field + halo + count, halo, MPI_DOUBLE, partner(), 2, WORLD);
      continue;
    }
    for (int i = 0; i < count; i++) inner[i] = i;
    MPI_Request requests[2];
    MPI_Irecv(field, halo, MPI_DOUBLE, partner(), 1, WORLD, &requests[0]);
    MPI_Irecv(inner + count, halo, MPI_DOUBLE, partner(), 2, WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    long wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
#pragma omp for nowait
      for (int i = 0; i < count; i++) inner[i] += 1;
#pragma omp single
      for (int i = 0; i < halo; i++) wrong += field[i] != value(round, i) || inner[count + i] != value(round, i);
    }
    for (int i = 0; i < count; i++) wrong += inner[i] != i + 1;
    EXPECT_EQ(wrong, 0);
  }
  free(field);
}

static const Case cases[] = {{"reduced", 2, reduced},
                             {"changed_in_place", 2, changed_in_place},
                             {"neighbouring_blocks", 2, neighbouring_blocks},
                             {"rim_beside_the_inner_part", 2, rim_beside_the_inner_part}};
SUITE_AT_LEVEL(cases, MPI_THREAD_FUNNELED)
