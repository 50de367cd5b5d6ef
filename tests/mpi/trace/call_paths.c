/* Rank 0 waits in a library, which it calls from two lines. Rank 1 is late for one of them. Each line has its own frames on the
 * stack, and one of them has others in each call. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "path_layers.h"

enum { turns = 8, late_ms = 20 };

static __attribute__((noinline)) void in_time(int turn) {
  int value = 0;
  outer(&value, 100 + 1000 * turn);
  if (value != turn + 2) printf("WRONG %d\n", value);
}

static __attribute__((noinline)) void too_late(int turn) {
  int value = 0;
  outer(&value, 100);
  if (value != turn + 2) printf("WRONG %d\n", value);
}

static void send_late(int turn, int milliseconds) {
  const struct timespec pause = {0, milliseconds * 1000000L};
  nanosleep(&pause, NULL);
  MPI_Send(&turn, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int turn = 0; turn < turns; ++turn) {
    if (rank == 0) {
      in_time(turn);
      too_late(turn);
    } else {
      send_late(turn, 0);
      send_late(turn, late_ms);
    }
  }
  MPI_Finalize();
  return 0;
}
