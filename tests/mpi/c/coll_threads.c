// MPI_THREAD_MULTIPLE: short collectives of several communicators at once, one thread for each, beside threads with messages.
#include <pthread.h>

#include "late.h"

enum { threads = 3, rounds = 300 };

static MPI_Comm comms[threads];

static void one_round(MPI_Comm comm, int i) {
  int number, sum = -1, value;
  MPI_Comm_rank(comm, &number);
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT_EQ(sum, size * (size - 1) / 2);
  value = number == i % size ? i : -1;
  MPI_Bcast(&value, 1, MPI_INT, i % size, comm);
  EXPECT_EQ(value, i);
  MPI_Reduce(&i, &sum, 1, MPI_INT, MPI_MAX, (i + 1) % size, comm);
  if (number == (i + 1) % size) EXPECT_EQ(sum, i);
  if (i % 10 == 0) MPI_Barrier(comm);
}

static void* in_collectives(void* argument) {
  const long which = (long)argument;
  for (int i = 0; i < rounds; i++) {
    if (i % 100 == 50 && rank == which % size) be_late();
    one_round(comms[which], i);
  }
  return NULL;
}

static void* in_messages(void* argument) {
  (void)argument;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int i = 0; i < rounds; i++) {
    int out = rank * rounds + i, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, next, 1, &in, 1, MPI_INT, previous, 1, WORLD, IGNORE);
    EXPECT_EQ(in, previous * rounds + i);
  }
  return NULL;
}

static void run(void* (*last)(void*)) {
  pthread_t started[threads];
  for (int i = 0; i < threads; i++) MPI_Comm_dup(WORLD, &comms[i]);
  for (long i = 0; i < threads; i++)
    pthread_create(&started[i], NULL, last && i == threads - 1 ? last : in_collectives, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(started[i], NULL);
  for (int i = 0; i < threads; i++) MPI_Comm_free(&comms[i]);
}

static void a_communicator_for_each(void) { run(NULL); }
static void beside_messages(void) { run(in_messages); }

// One thread sleeps in a collective while another one polls for a message that comes first.
static void* long_wait(void* argument) {
  (void)argument;
  int sum = 0;
  if (rank == 0) pause_ms(40);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comms[0]);
  EXPECT_EQ(sum, size * (size - 1) / 2);
  return NULL;
}
static void asleep_beside_a_poll(void) {
  pthread_t started;
  MPI_Comm_dup(WORLD, &comms[0]);
  pthread_create(&started, NULL, long_wait, NULL);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int i = 0; i < 20; i++) {
    int in = -1;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, previous, 2, WORLD, &request);
    pause_ms(3);
    MPI_Send(&i, 1, MPI_INT, next, 2, WORLD);
    MPI_Wait(&request, IGNORE);
    EXPECT_EQ(in, i);
  }
  pthread_join(started, NULL);
  MPI_Comm_free(&comms[0]);
}

static const Case cases[] = {
    {"a_communicator_for_each", 1, a_communicator_for_each},
    {"beside_messages", 1, beside_messages},
    {"asleep_beside_a_poll", 2, asleep_beside_a_poll},
};
SUITE_AT_LEVEL(cases, MPI_THREAD_MULTIPLE)
