/* Waits of known causes, for two ranks: `sluice report` must find each, as long as it was and for the right reason. What the
 * ranks measured themselves is printed at the end, since output would complete what was released:
 *
 * MEASURED case calls afterwards entered: by rank 0, time in its calls, time that it was kept waiting later, sum of the moments
 * at which it began to receive
 *
 * PARTNER case sent done: by rank 1, sums of the moments at which it began to send, and at which its send returned
 *
 * LOG rank send peer tag bytes: each message, in the order of the calls */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { turns = 3, late_us = 30000, small = 4096, large = 1 << 20 };

static int rank;
static long long in_calls, afterwards, entered, entered_now, sent, done;
static char output[1 << 16];
static size_t used;
static volatile long long sink;

static long long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void compute(long long us) {
  for (long long end = now_ns() + us * 1000; now_ns() < end;) continue;
}

#define SAY(...) (used += (size_t)snprintf(output + used, sizeof output - used, __VA_ARGS__))

static void log_send(int tag, int bytes) { SAY("LOG %d send %d %d %d\n", rank, 1 - rank, tag, bytes); }

#define TIMED(counter, statement)               \
  do {                                          \
    const long long begin_##counter = now_ns(); \
    statement;                                  \
    counter += now_ns() - begin_##counter;      \
  } while (0)
#define RECEIVE(buffer, bytes, tag)                                                                \
  do {                                                                                             \
    say_go();                                                                                      \
    entered += entered_now = now_ns();                                                             \
    TIMED(in_calls, MPI_Recv(buffer, bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); \
  } while (0)

/* Rank 0 is about to wait, so that rank 1 is later than that however busy the machine is. */
enum { go = 99 };
static volatile int gone;
static __attribute__((noinline)) void say_go(void) {
  log_send(go, 0);
  MPI_Send(NULL, 0, MPI_BYTE, 1, go, MPI_COMM_WORLD);
  gone++; /* or the call would be a jump, and of this function's caller */
}
static void be_late(void) {
  MPI_Recv(NULL, 0, MPI_BYTE, 0, go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  usleep(late_us);
}

static void send_late(char* buffer, int bytes, int tag) {
  be_late();
  log_send(tag, bytes);
  sent += now_ns();
  MPI_Send(buffer, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  done += now_ns();
}

static void late_sender(char* buffer) {
  if (rank == 1) return send_late(buffer, small, 1);
  RECEIVE(buffer, small, 1);
}

static void late_receiver(char* buffer) {
  if (rank == 0) {
    say_go();
    log_send(2, small);
    entered += now_ns();
    TIMED(in_calls, MPI_Ssend(buffer, small, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
  } else {
    be_late();
    sent += now_ns();
    MPI_Recv(buffer, small, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    done += now_ns();
  }
}

static void touched_at_once(char* buffer) {
  if (rank == 1) return send_late(buffer, large, 3);
  RECEIVE(buffer, large, 3);
  TIMED(afterwards, sink += buffer[large / 2]);
}

/* The call that returns early is not the one that posted the receive. */
static void posted_before(char* buffer) {
  MPI_Request request;
  if (rank == 1) return send_late(buffer, large, 8);
  MPI_Irecv(buffer, large, MPI_BYTE, 1, 8, MPI_COMM_WORLD, &request);
  say_go();
  entered += now_ns();
  TIMED(in_calls, MPI_Wait(&request, MPI_STATUS_IGNORE));
  TIMED(afterwards, sink += buffer[large / 2]);
}

static void never_touched(char* buffer) {
  if (rank == 1) {
    send_late(buffer, large, 4);
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  RECEIVE(buffer, large, 4);
  TIMED(afterwards, compute(2 * late_us); MPI_Barrier(MPI_COMM_WORLD));
}

static void unpacked(char* buffer) {
  static char target[large];
  int position = 0;
  if (rank == 1) return send_late(buffer, large, 5);
  memset(target, 1, large); /* its pages are made now, and not while the wait is timed */
  RECEIVE(buffer, large, 5);
  TIMED(afterwards, MPI_Unpack(buffer, large, &position, target, large, MPI_BYTE, MPI_COMM_WORLD));
  /* The copying is no wait. */
  long long copying = 0;
  position = 0;
  TIMED(copying, MPI_Unpack(buffer, large, &position, target, large, MPI_BYTE, MPI_COMM_WORLD));
  afterwards -= copying;
}

static void held_send(char* buffer) {
  char word[8] = {0};
  if (rank == 1) {
    send_late(buffer, large, 6);
    MPI_Recv(word, sizeof word, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  RECEIVE(buffer, large, 6);
  log_send(7, sizeof word);
  /* It is held from here on. */
  entered += now_ns() - entered_now;
  MPI_Send(word, sizeof word, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
  compute(2 * late_us);
}

static const struct {
  const char* name;
  void (*run)(char*);
} cases[] = {
    {"late_sender", late_sender},     {"late_receiver", late_receiver}, {"touched_at_once", touched_at_once},
    {"posted_before", posted_before}, {"never_touched", never_touched}, {"unpacked", unpacked},
    {"held_send", held_send},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char* buffer = aligned_alloc(4096, large);
    memset(buffer, rank, large);
    in_calls = afterwards = entered = sent = done = 0;
    for (int turn = 0; turn < turns; turn++) {
      MPI_Barrier(MPI_COMM_WORLD);
      cases[i].run(buffer);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) SAY("MEASURED %s %lld %lld %lld\n", cases[i].name, in_calls, afterwards, entered);
    if (rank == 1) SAY("PARTNER %s %lld %lld\n", cases[i].name, sent, done);
    free(buffer);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  fwrite(output, 1, used, stdout);
  MPI_Finalize();
  return 0;
}
