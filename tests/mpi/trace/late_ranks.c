/* late_ranks: collective calls of every kind that Sluice carries, in each of which one rank is late, another one from case to
 * case. Each is made from a line of its own, in a function of its own; `sluice report` must name the late rank. 3 ranks.
 *
 * Prints "LATE <function> <rank> <nanoseconds>" for each: who was late, and by how much all in all. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { turns = 5, late_us = 10000, few = 4, many = 200000 };

static int rank, size;
static double in[many * 3], out[many * 3];

static void start(int late) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == late) usleep(late_us);
}

/* The processor is busy, in no call of MPI's. */
static void compute(long us) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

static void short_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void short_bcast(void) { MPI_Bcast(in, few, MPI_DOUBLE, 1, MPI_COMM_WORLD); }
static void short_reduce(void) { MPI_Reduce(in, out, few, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }
static void short_allreduce(void) { MPI_Allreduce(in, out, few, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void long_bcast(void) { MPI_Bcast(in, many, MPI_DOUBLE, 2, MPI_COMM_WORLD); }
static void long_allreduce(void) { MPI_Allreduce(in, out, many, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void gather(void) { MPI_Gather(in, many, MPI_DOUBLE, out, many, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static void scatter(void) { MPI_Scatter(in, many, MPI_DOUBLE, out, many, MPI_DOUBLE, 1, MPI_COMM_WORLD); }
static void allgather(void) { MPI_Allgather(in, few, MPI_DOUBLE, out, few, MPI_DOUBLE, MPI_COMM_WORLD); }
static void alltoall(void) { MPI_Alltoall(in, many, MPI_DOUBLE, out, many, MPI_DOUBLE, MPI_COMM_WORLD); }
static void scan(void) { MPI_Scan(in, out, few, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void reduce_scatter(void) { MPI_Reduce_scatter_block(in, out, few, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void wait_at_once(void) {
  MPI_Request request;
  MPI_Ialltoall(in, many, MPI_DOUBLE, out, many, MPI_DOUBLE, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
/* Its wait is over before it begins. */
static void wait_later(void) {
  MPI_Request request;
  MPI_Iallgather(in, few, MPI_DOUBLE, out, few, MPI_DOUBLE, MPI_COMM_WORLD, &request);
  compute(2 * late_us);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct {
  const char* name;
  void (*call)(void);
  int late;
} cases[] = {
    {"short_barrier", short_barrier, 2},
    {"short_bcast", short_bcast, 1},
    {"short_reduce", short_reduce, 2},
    {"short_allreduce", short_allreduce, 1},
    {"long_bcast", long_bcast, 2},
    {"long_allreduce", long_allreduce, 1},
    {"gather", gather, 1},
    {"scatter", scatter, 1},
    {"allgather", allgather, 0},
    {"alltoall", alltoall, 2},
    {"scan", scan, 0},
    {"reduce_scatter", reduce_scatter, 2},
    {"wait_at_once", wait_at_once, 1},
    {"wait_later", wait_later, 2},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    for (int turn = 0; turn < turns; ++turn) {
      start(cases[i].late);
      cases[i].call();
    }
    if (rank == 0) printf("LATE %s %d %ld\n", cases[i].name, cases[i].late, turns * late_us * 1000L);
  }
  MPI_Finalize();
  return 0;
}
