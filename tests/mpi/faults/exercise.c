/* Every way in which a message travels and a receive is released, and collective calls, with every byte checked; for runs in
 * which a system call fails (inject.c). Pairs of ranks. */

#include <string.h>
#include <sys/wait.h>

#include "common.h"

enum { rounds = 12, late_us = 1500 };

static int partner;
static int sends_first;

static void check_sum(int sum, int expected) {
  if (sum == expected) return;
  fprintf(stderr, "WRONG DATA: the sum is %d, expected %d\n", sum, expected);
  _exit(3);
}

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

/* Short ones and long ones, in which all ranks but one come late. */
static void collective_calls(unsigned char* in, unsigned char* out, int round) {
  enum { bytes = 400000, numbers = bytes / (int)sizeof(int) };
  const int root = round % world_size(), message = 3000 + round;
  int sum = 0, *const own = (int*)out, *const all = (int*)in;
  MPI_Request request;
  if (world_rank() != root) usleep(late_us);
  MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check_sum(sum, round * world_size());
  if (world_rank() == root) fill(in, bytes, message);
  MPI_Bcast(in, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
  check(in, bytes, message);
  for (int i = 0; i < numbers; ++i) own[i] = i % 1000 + round;
  MPI_Iallreduce(own, all, numbers, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < numbers; ++i) check_sum(all[i], (i % 1000 + round) * world_size());
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
    collective_calls(in, out, round);
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
