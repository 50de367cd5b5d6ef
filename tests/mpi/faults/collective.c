/* collective HOW: what can go wrong in a collective call of short messages.
 *   barrier, bcast, reduce, allreduce   rank 1 is killed before it enters one of them, for which the others wait
 *   full        rank 1 is killed when the root of a row of broadcasts waits for it to read some
 *   stopped     rank 1 is stopped for a while, and goes on; the results are right
 *   plain       nothing
 *   kinds       rank 1 is in another call than the others
 *   lengths     rank 1 expects a longer message than the root has */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "common.h"

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

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "barrier";
  double value = 1, sum = 0, row[64] = {0};
  MPI_Init(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  for (int i = 0; i < 10; ++i) MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 1 && is(how, "stopped")) stop_for_a_while();
  if (rank == 1 && (is(how, "barrier") || is(how, "bcast") || is(how, "reduce") || is(how, "allreduce") || is(how, "full"))) {
    usleep(50000);
    kill(getpid(), SIGKILL);
  }
  if (is(how, "kinds") && rank == 1) {
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else if (is(how, "lengths")) {
    MPI_Bcast(row, rank == 1 ? 20 : 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
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
