/* Every way in which a message travels and a receive is released, with every byte checked; for runs in which a system call
 * fails (inject.c). Pairs of ranks. */

#include <string.h>
#include <sys/wait.h>

#include "common.h"

enum { rounds = 12, late_us = 1500 };

static int partner;
static int sends_first;

/* The two of a pair take turns in being late. */
static void one_way(unsigned char* buffer, size_t bytes, int message, int from_first) {
  if (sends_first == from_first) {
    fill(buffer, bytes, message);
    usleep(late_us);
    MPI_Send(buffer, (int)bytes, MPI_BYTE, partner, message, MPI_COMM_WORLD);
  } else {
    memset(buffer, 0xee, bytes);
    MPI_Recv(buffer, (int)bytes, MPI_BYTE, partner, message, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(buffer, bytes, message);
  }
}

static void both_ways(unsigned char* in, unsigned char* out, size_t bytes, int message) {
  MPI_Request requests[2];
  const int sent = 2 * message + sends_first;
  const int received = 2 * message + 1 - sends_first;
  fill(out, bytes, sent);
  if (message % 3 == 0) {
    MPI_Sendrecv(out, (int)bytes, MPI_BYTE, partner, 5, in, (int)bytes, MPI_BYTE, partner, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Irecv(in, (int)bytes, MPI_BYTE, partner, 5, MPI_COMM_WORLD, &requests[0]);
    if (sends_first) usleep(late_us);
    (message % 3 == 1 ? MPI_Isend : MPI_Issend)(out, (int)bytes, MPI_BYTE, partner, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  check(in, bytes, received);
  check(out, bytes, sent);
}

static void child_compares(const unsigned char* buffer, size_t bytes, int message) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    check(buffer, bytes, message);
    _exit(0);
  }
  if (waitpid(child, &status, 0) != child || status != 0) {
    puts("WRONG DATA in the child");
    exit(3);
  }
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {100, 20000, 300000, 1 << 20};
  MPI_Init(&argc, &argv);
  partner = world_rank() ^ 1;
  sends_first = world_rank() % 2 == 0;
  unsigned char* in = malloc(1 << 20);
  unsigned char* out = malloc(1 << 20);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 4; ++i) {
      one_way(in, sizes[i], 10 * round + i, round % 2);
      both_ways(in, out, sizes[i], 10 * round + i);
    }
    unsigned char* fresh = malloc(600000);
    one_way(fresh, 600000, round, 1);
    one_way(fresh, 600000, round, 0);
    free(fresh);
    if (round % 5 == 4) {
      one_way(in, 1 << 20, round, 1);
      if (!sends_first) child_compares(in, 1 << 20, round);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) puts("exchange ok");
  MPI_Finalize();
  return 0;
}
