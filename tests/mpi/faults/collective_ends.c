/* collective_ends KIND HOW RANK: a rank ends in the middle of collective calls, at some moment that no two runs have in common.
 *   KIND  lanes        short calls, one after another
 *         messages     long ones
 *         nonblocking  long ones that are begun, and waited for after a while
 *         released     the others' receives have returned early, and wait behind the guard for the rank
 *   HOW   kill         by SIGKILL
 *         exit         by exit(7)
 *         abort        by abort()
 *         stop         by SIGSTOP, for half a second; nobody ends, and the others tell their processor time
 * collective_ends exhausted: more communicators than there are lanes, and a sum over each is right. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "common.h"

enum { few = 4, many = 1 << 18, stopped_us = 500000, communicators = 200 };
static double in[many], out[many];
static const char *kind, *how;

static int is(const char* a, const char* b) { return strcmp(a, b) == 0; }

static double processor_milliseconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static void* end_after_a_while(void* unused) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  usleep((useconds_t)(20000 + now.tv_nsec / 1000 % 20000));
  if (is(how, "kill")) kill(getpid(), SIGKILL);
  if (is(how, "abort")) abort();
  exit(7);
  return unused;
}

/* A child continues it. */
static void stop_for_a_while(void) {
  const pid_t own = getpid();
  const pid_t child = fork();
  if (child == 0) {
    usleep(stopped_us);
    kill(own, SIGCONT);
    _exit(0);
  }
  kill(own, SIGSTOP);
  waitpid(child, NULL, 0);
}

static void lanes(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(in, few, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Reduce(in, out, few, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
  MPI_Allreduce(in, out, few, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void messages(void) {
  const int block = many / world_size();
  MPI_Bcast(in, many, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allreduce(in, out, many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Alltoall(in, block, MPI_DOUBLE, out, block, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Gather(in, block, MPI_DOUBLE, out, block, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  MPI_Scan(in, out, many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void nonblocking(void) {
  const int block = many / 2 / world_size();
  MPI_Request requests[2];
  MPI_Ialltoall(in, block, MPI_DOUBLE, out, block, MPI_DOUBLE, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(in + many / 2, out + many / 2, many / 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  usleep(500);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* The rank that ends is the root, and late. */
static void released(int rank) {
  if (world_rank() == rank) usleep(3000);
  MPI_Bcast(in, many, MPI_DOUBLE, rank, MPI_COMM_WORLD);
  if (world_rank() != rank) usleep(1000);
  out[0] += in[many - 1];
}

static void call(int rank) {
  if (is(kind, "lanes")) lanes();
  if (is(kind, "messages")) messages();
  if (is(kind, "nonblocking")) nonblocking();
  if (is(kind, "released")) released(rank);
}

/* The others wait for the rank that is stopped. */
static int wait_for_stopped(int rank) {
  call(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == rank) stop_for_a_while();
  const double before = processor_milliseconds();
  call(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() != rank) printf("burned %.3f\n", processor_milliseconds() - before);
  MPI_Finalize();
  return 0;
}

static int exhaust_lanes(void) {
  static MPI_Comm made[communicators];
  int wrong = 0;
  for (int i = 0; i < communicators; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
  for (int i = 0; i < communicators; ++i) {
    int sum = 0, own = world_rank() + i, root = world_rank() == i % world_size() ? i : -1;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, made[i]);
    MPI_Bcast(&root, 1, MPI_INT, i % world_size(), made[i]);
    MPI_Barrier(made[i]);
    wrong += sum != world_size() * (world_size() - 1) / 2 + i * world_size() || root != i;
  }
  for (int i = 0; i < communicators; ++i) MPI_Comm_free(&made[i]);
  printf(wrong ? "WRONG DATA in %d of %d\n" : "sums ok\n", wrong, communicators);
  MPI_Finalize();
  return wrong != 0;
}

int main(int argc, char** argv) {
  kind = argc > 1 ? argv[1] : "lanes";
  how = argc > 2 ? argv[2] : "kill";
  const int rank = argc > 3 ? atoi(argv[3]) : 0;
  MPI_Init(&argc, &argv);
  if (is(kind, "exhausted")) return exhaust_lanes();
  if (is(how, "stop")) return wait_for_stopped(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_t ending;
  if (world_rank() == rank) pthread_create(&ending, NULL, end_after_a_while, NULL);
  for (int i = 0; i < 1000000; ++i) call(rank);
  printf("rank %d went on\n", world_rank());
  MPI_Finalize();
  return 0;
}
