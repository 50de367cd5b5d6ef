/* collective HOW: what can go wrong in a collective call.
 *   barrier, bcast, reduce, allreduce   rank 1 is killed before it enters one of them, for which the others wait
 *   long_bcast, long_allreduce, ibarrier, iallreduce   the same of those that go by messages
 *   full        rank 1 is killed when the root of a row of broadcasts waits for it to read some
 *   stopped     rank 1 is stopped for a while, and goes on; the results are right
 *   plain       nothing
 *   kinds       rank 1 is in another call than the others
 *   lengths     rank 1 expects a longer message than the root has
 *   long_lengths   the same of messages that do not fit a lane
 *   long_kinds, nonblocking_kinds   rank 1 is in another call than the others, of those that go by messages
 *   block_lengths   rank 1 has longer blocks than the others
 *   own_lengths   rank 1 sends itself blocks that are longer than it expects, and gets errors; the others are told, or go on */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "common.h"

enum { many = 300000 };
static double in[many], out[many];

static int is(const char* a, const char* b) { return strcmp(a, b) == 0; }

/* Rank 1 is stopped, and continued by a child of its own. */
static void stop_for_a_while(void) {
  const pid_t own = getpid();
  const pid_t child = fork();
  if (child == 0) {
    usleep(300000);
    kill(own, SIGCONT);
    _exit(0);
  }
  kill(own, SIGSTOP);
  waitpid(child, NULL, 0);
}

static void expect_class(int code, int wanted, const char* call) {
  int class;
  MPI_Error_class(code, &class);
  if (class != wanted) fprintf(stderr, "WRONG CLASS of %s: %d\n", call, class);
}

/* Only rank 1 has another length for itself. Where the others cannot know, they go on. */
static void call_with_own_lengths(int rank, int size) {
  enum { block = 3 };
  const int odd = rank == 1;
  const int sent = odd ? block + 1 : block;
  int counts[64], places[64];
  for (int i = 0; i < size; ++i) counts[i] = block, places[i] = i * block;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < 3; ++round) {
    expect_class(MPI_Gather(in, sent, MPI_DOUBLE, out, block, MPI_DOUBLE, 1, MPI_COMM_WORLD),
                 odd ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "MPI_Gather");
    expect_class(MPI_Scatter(in, sent, MPI_DOUBLE, out, sent - odd, MPI_DOUBLE, 0, MPI_COMM_WORLD), MPI_SUCCESS, "MPI_Scatter");
    expect_class(MPI_Scatter(in, block, MPI_DOUBLE, out, sent, MPI_DOUBLE, 1, MPI_COMM_WORLD),
                 odd ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "MPI_Scatter");
    expect_class(MPI_Allgather(in, sent, MPI_DOUBLE, out, block, MPI_DOUBLE, MPI_COMM_WORLD), MPI_ERR_TRUNCATE, "MPI_Allgather");
    expect_class(MPI_Allgatherv(in, sent, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, MPI_COMM_WORLD),
                 odd ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "MPI_Allgatherv");
    int sent_counts[64];
    for (int i = 0; i < size; ++i) sent_counts[i] = i == rank ? sent : block;
    expect_class(MPI_Alltoallv(in, sent_counts, places, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, MPI_COMM_WORLD),
                 odd ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "MPI_Alltoallv");
    expect_class(MPI_Alltoall(in, sent, MPI_DOUBLE, out, block, MPI_DOUBLE, MPI_COMM_WORLD), MPI_ERR_TRUNCATE, "MPI_Alltoall");
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "barrier";
  double value = 1, sum = 0, row[64] = {0};
  MPI_Init(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  for (int i = 0; i < 10; ++i) MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 1 && is(how, "stopped")) stop_for_a_while();
  const int is_mismatch = strstr(how, "kinds") != NULL || strstr(how, "lengths") != NULL;
  if (rank == 1 && !is_mismatch && !is(how, "stopped") && !is(how, "plain")) {
    usleep(50000);
    kill(getpid(), SIGKILL);
  }
  if (is(how, "kinds") && rank == 1) {
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else if (is(how, "lengths")) {
    MPI_Bcast(row, rank == 1 ? 20 : 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(how, "long_lengths")) {
    MPI_Bcast(in, rank == 1 ? many : many / 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(how, "long_kinds") && rank == 1) {
    MPI_Bcast(in, many, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(how, "long_kinds")) {
    MPI_Allreduce(in, out, many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(how, "nonblocking_kinds")) {
    MPI_Request request;
    if (rank == 1) {
      MPI_Ibcast(in, many, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    } else {
      MPI_Iallgather(in, many / 4, MPI_DOUBLE, out, many / 4, MPI_DOUBLE, MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(how, "polled_kinds") ||
             is(how, "long_polled_kinds")) {  // the others have long found nothing when the odd one comes
    MPI_Request request;
    const int count = is(how, "polled_kinds") ? 2 : many;
    if (rank == 1) {
      usleep(100000);
      MPI_Ibcast(in, count, MPI_DOUBLE, 1, MPI_COMM_WORLD, &request);
    } else {
      MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    }
    for (int done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(how, "block_lengths")) {
    const int block = rank == 1 ? many / 4 : many / 8;
    MPI_Alltoall(in, block, MPI_DOUBLE, out, block, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(how, "own_lengths")) {
    call_with_own_lengths(rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(how, "long_bcast")) {
    MPI_Bcast(in, many, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(how, "long_allreduce")) {
    MPI_Allreduce(in, out, many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (is(how, "ibarrier") || is(how, "iallreduce")) {
    MPI_Request request;
    if (is(how, "ibarrier")) {
      MPI_Ibarrier(MPI_COMM_WORLD, &request);
    } else {
      MPI_Iallreduce(in, out, many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (is(how, "bcast")) {
    MPI_Bcast(&value, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  } else if (is(how, "reduce")) {
    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (is(how, "full")) {
    for (int i = 0; i < 1000; ++i) MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else if (is(how, "barrier")) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size) {
      fprintf(stderr, "WRONG DATA: the sum is %g\n", sum);
      return 3;
    }
  }
  printf("rank %d went on\n", rank);
  MPI_Finalize();
  return 0;
}
