// MPI_THREAD_MULTIPLE: many threads of a rank in point-to-point calls at once.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "late.h"

enum { threads = 4, rounds = 40 };

// Runs `body` in `threads` threads, numbered by their argument.
static void in_threads(void* (*body)(void*)) {
  pthread_t started[threads];
  for (long i = 0; i < threads; i++) pthread_create(&started[i], NULL, body, (void*)i);
  for (long i = 0; i < threads; i++) pthread_join(started[i], NULL);
}

static int bytes_of(int i) {
  static const int sizes[] = {8, 100000, 500, 20000, 300000};
  return sizes[i % 5];
}

static void exchange_with(int peer, int tag, MPI_Comm comm, unsigned seed) {
  const int bytes = bytes_of((int)seed);
  char *out = allocate((size_t)bytes), *in = allocate((size_t)bytes);
  MPI_Request request;
  MPI_Status status;
  fill(out, (size_t)bytes, seed);
  MPI_Isend(out, bytes, MPI_BYTE, peer, tag, comm, &request);
  MPI_Recv(in, bytes, MPI_BYTE, peer, tag, comm, &status);
  MPI_Wait(&request, IGNORE);
  EXPECT_EQ(status.MPI_SOURCE, peer);
  expect_filled(in, (size_t)bytes, seed);
  free(in);
  free(out);
}

static void* by_tag(void* argument) {
  const int tag = (int)(long)argument;
  for (int i = 0; i < rounds && rank < 2; i++) exchange_with(1 - rank, tag, WORLD, (unsigned)(tag * rounds + i));
  return NULL;
}
static void one_tag_per_thread(void) { in_threads(by_tag); }

static MPI_Comm comms[threads];
static void* by_comm(void* argument) {
  const long i = (long)argument;
  for (int k = 0; k < rounds && rank < 2; k++) exchange_with(1 - rank, 0, comms[i], (unsigned)(i * rounds + k));
  return NULL;
}
static void one_communicator_per_thread(void) {
  for (int i = 0; i < threads; i++) MPI_Comm_dup(WORLD, &comms[i]);
  in_threads(by_comm);
  for (int i = 0; i < threads; i++) MPI_Comm_free(&comms[i]);
}

// Threads of one rank receive the same envelopes: each message comes to one of them, whole.
static atomic_long sum;
static void* same_tag(void* argument) {
  (void)argument;
  for (int i = 0; i < rounds && rank < 2; i++) {
    int value[2] = {i, ~i};
    if (rank == 0) {
      MPI_Send(value, 2, MPI_INT, 1, 7, WORLD);
    } else {
      MPI_Recv(value, 2, MPI_INT, MPI_ANY_SOURCE, 7, WORLD, IGNORE);
      EXPECT_EQ(value[1], ~value[0]);
      atomic_fetch_add(&sum, value[0]);
    }
  }
  return NULL;
}
static void all_threads_receive_the_same_tag(void) {
  atomic_store(&sum, 0);
  in_threads(same_tag);
  if (rank == 1) EXPECT_EQ(atomic_load(&sum), (long)threads * rounds * (rounds - 1) / 2);
}

static void* probe_and_receive(void* argument) {
  (void)argument;
  for (int i = 0; i < rounds && rank < 2; i++) {
    char* buffer;
    if (rank == 0) {
      const int bytes = bytes_of(i);
      buffer = allocate((size_t)bytes);
      fill(buffer, (size_t)bytes, (unsigned)bytes);
      MPI_Send(buffer, bytes, MPI_BYTE, 1, 8, WORLD);
    } else {
      MPI_Message message;
      MPI_Status status;
      int bytes;
      MPI_Mprobe(MPI_ANY_SOURCE, 8, WORLD, &message, &status);
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      buffer = allocate((size_t)bytes);
      MPI_Mrecv(buffer, bytes, MPI_BYTE, &message, IGNORE);
      expect_filled(buffer, (size_t)bytes, (unsigned)bytes);
    }
    free(buffer);
  }
  return NULL;
}
static void all_threads_in_matched_probe(void) { in_threads(probe_and_receive); }

// One thread sits in a receive that only a later call of another thread of the same rank answers.
static void* receive_from_itself(void* argument) {
  (void)argument;
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, rank, 11, WORLD, IGNORE);
  EXPECT_EQ(value, 5);
  return NULL;
}
static void a_thread_waits_for_another_of_its_rank(void) {
  pthread_t thread;
  const int value = 5;
  pthread_create(&thread, NULL, receive_from_itself, NULL);
  be_late();
  MPI_Ssend(&value, 1, MPI_INT, rank, 11, WORLD);
  pthread_join(thread, NULL);
}

static void* blocked_receive(void* argument) {
  char* buffer = argument;
  MPI_Recv(buffer, large, MPI_BYTE, 0, 12, WORLD, IGNORE);
  expect_filled(buffer, large, 12);
  return NULL;
}
static void a_blocked_thread_does_not_block_others(void) {
  char* buffer = allocate(large);
  int value = 0;
  if (rank == 1) {
    pthread_t thread;
    pthread_create(&thread, NULL, blocked_receive, buffer);
    for (int i = 0; i < rounds; i++) {
      MPI_Recv(&value, 1, MPI_INT, 0, 13, WORLD, IGNORE);
      MPI_Send(&value, 1, MPI_INT, 0, 14, WORLD);
    }
    pthread_join(thread, NULL);
  } else if (rank == 0) {
    for (int i = 0; i < rounds; i++) {
      MPI_Send(&i, 1, MPI_INT, 1, 13, WORLD);
      MPI_Recv(&value, 1, MPI_INT, 1, 14, WORLD, IGNORE);
      EXPECT_EQ(value, i);
    }
    fill(buffer, large, 12);
    MPI_Send(buffer, large, MPI_BYTE, 1, 12, WORLD);
  }
  free(buffer);
}

static void* late_pieces(void* argument) {
  static char area[threads * 70001];
  const long i = (long)argument;
  char* at = area + i * 70001;  // threads share the pages between their pieces
  for (unsigned k = 0; k < 6 && rank < 2; k++) {
    if (rank == 0) {
      fill(at, 70001, k + (unsigned)i * 10);
      pause_ms(1);
      MPI_Send(at, 70001, MPI_BYTE, 1, 20 + (int)i, WORLD);
    } else {
      MPI_Recv(at, 70001, MPI_BYTE, 0, 20 + (int)i, WORLD, IGNORE);
      expect_filled(at, 70001, k + (unsigned)i * 10);
    }
  }
  return NULL;
}
static void threads_with_neighbouring_late_receives(void) { in_threads(late_pieces); }

static void* mixed_waits(void* argument) {
  const int tag = 30 + 2 * (int)(long)argument;
  for (int i = 0; i < rounds && rank < 2; i++) {
    int out[2] = {i, -i}, in[2] = {0, 0}, index, done = 0;
    MPI_Request requests[4];
    for (int k = 0; k < 2; k++) {
      MPI_Irecv(&in[k], 1, MPI_INT, 1 - rank, tag + k, WORLD, &requests[k]);
      MPI_Isend(&out[k], 1, MPI_INT, 1 - rank, tag + k, WORLD, &requests[2 + k]);
    }
    MPI_Waitany(4, requests, &index, IGNORE);
    while (!done && i % 2) MPI_Testall(4, requests, &done, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    EXPECT(in[0] == i && in[1] == -i, "round %d: %d %d", i, in[0], in[1]);
  }
  return NULL;
}
static void waitany_and_testall_in_all_threads(void) { in_threads(mixed_waits); }

static void* collectives_and_messages(void* argument) {
  const long i = (long)argument;
  for (int k = 0; k < rounds / 2; k++) {
    int total = 0;
    if (i % 2 == 0) {
      MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, comms[i]);
      EXPECT_EQ(total, size * (size - 1) / 2);
    } else {
      exchange_with(rank ^ 1, 50 + (int)i, comms[i], (unsigned)k);
    }
  }
  return NULL;
}
static void collectives_beside_messages(void) {
  if (size % 2) return;
  for (int i = 0; i < threads; i++) MPI_Comm_dup(WORLD, &comms[i]);
  in_threads(collectives_and_messages);
  for (int i = 0; i < threads; i++) MPI_Comm_free(&comms[i]);
}

static unsigned long* volatile counter;
static volatile int stop;

static void* counts(void* unused) {
  unsigned long counted = 0;
  volatile unsigned long* at = NULL;
  while (!stop) {
    if (at != counter) {
      if (at) EXPECT_EQ(*at, counted);
      at = counter;
    }
    *at = ++counted;
  }
  return unused;
}

// Memory that is new to MPI, beside which another thread writes throughout.
static void a_thread_that_writes_beside_a_buffer(void) {
  enum { bytes = 1000000, uses = 8, beside = 64 };
  char* sent = allocate(bytes);
  char* memory = mmap(NULL, (size_t)rounds * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_t thread;
  counter = (unsigned long*)memory;
  stop = rank != 1;
  pthread_create(&thread, NULL, counts, NULL);
  for (int i = 0; i < rounds && rank < 2; i++) {
    char* buffer = memory + (size_t)i * MB + beside;
    counter = (unsigned long*)(buffer - beside);
    fill(sent, bytes, (unsigned)i);
    for (int k = 0; k < uses; k++) {
      if (rank == 0) MPI_Send(sent, bytes, MPI_BYTE, 1, 0, WORLD);
      if (rank == 1) MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, WORLD, IGNORE);
    }
    if (rank == 1) expect_filled(buffer, bytes, (unsigned)i);
  }
  stop = 1;
  pthread_join(thread, NULL);
  munmap(memory, (size_t)rounds * MB);
  free(sent);
}

// Two threads of a rank send each other messages in MPI_COMM_SELF; each pauses now and then, so that the other waits long.
static void* talk_to_the_other(void* argument) {
  const int me = (int)(long)argument;
  char* buffer = allocate(MB);
  for (int i = 0; i < rounds; i++) {
    const int bytes = i % 3 == 2 ? MB : bytes_of(i);
    if (i % 2 == me) {
      if (i % 10 < 2) be_late();
      fill(buffer, (size_t)bytes, (unsigned)i);
      (i % 4 < 2 ? MPI_Send : MPI_Ssend)(buffer, bytes, MPI_BYTE, 0, i, MPI_COMM_SELF);
    } else {
      MPI_Recv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, i, MPI_COMM_SELF, IGNORE);
      expect_filled(buffer, (size_t)bytes, (unsigned)i);
    }
  }
  free(buffer);
  return NULL;
}
static void two_threads_of_a_rank_talk(void) {
  pthread_t other;
  pthread_create(&other, NULL, talk_to_the_other, (void*)1);
  talk_to_the_other(NULL);
  pthread_join(other, NULL);
}

static void level_is_multiple(void) {
  int level = -1, is_main = 0;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  EXPECT_EQ(level, MPI_THREAD_MULTIPLE);
  EXPECT_EQ(is_main, 1);
}

static const Case cases[] = {CASE(level_is_multiple, 1),
                             CASE(one_tag_per_thread, 2),
                             CASE(one_communicator_per_thread, 2),
                             CASE(all_threads_receive_the_same_tag, 2),
                             CASE(all_threads_in_matched_probe, 2),
                             CASE(a_thread_waits_for_another_of_its_rank, 1),
                             CASE(two_threads_of_a_rank_talk, 1),
                             CASE(a_blocked_thread_does_not_block_others, 2),
                             CASE(threads_with_neighbouring_late_receives, 2),
                             CASE(waitany_and_testall_in_all_threads, 2),
                             CASE(collectives_beside_messages, 2),
                             CASE(a_thread_that_writes_beside_a_buffer, 2)};
SUITE_AT_LEVEL(cases, MPI_THREAD_MULTIPLE)
