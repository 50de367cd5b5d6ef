/* buffers HOW: two ranks whose buffers an adapter has to know; every byte is checked.
 *   one ROUNDS BYTES           one buffer, again and again
 *   many COUNT ROUNDS BYTES    COUNT buffers, one after another and, every other round, all at once
 *   again ROUNDS               buffers of several sizes, given back and allocated anew, whole or by realloc, so that addresses
 * come back with other memory behind them; says how often they did */
#include <malloc.h>
#include <string.h>

#include "common.h"

enum {
  uses = 8,
  /* more than it takes until a buffer is known as one that comes back */ max_buffers = 1000,
  max_addresses = 10000
};

static int rank;

static void pass(unsigned char* buffer, size_t bytes) {
  static int message;
  ++message;
  if (rank == 0) {
    fill(buffer, bytes, message);
    MPI_Send(buffer, (int)bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(buffer, (int)bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(buffer, bytes, message);
  }
}

static void one(int rounds, size_t bytes) {
  unsigned char* buffer = malloc(bytes);
  for (int round = 0; round < rounds; ++round) pass(buffer, bytes);
  free(buffer);
}

static void all_at_once(unsigned char** buffers, int count, size_t bytes, int round) {
  MPI_Request requests[max_buffers];
  for (int i = 0; i < count; ++i) {
    const int message = round * count + i;
    if (rank == 0) {
      fill(buffers[i], bytes, message);
      MPI_Isend(buffers[i], (int)bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
    } else {
      MPI_Irecv(buffers[i], (int)bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
    }
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; rank == 1 && i < count; ++i) check(buffers[i], bytes, round * count + i);
}

static void many(int count, int rounds, size_t bytes) {
  unsigned char* buffers[max_buffers];
  for (int i = 0; i < count; ++i) buffers[i] = malloc(bytes);
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 != 0) {
      all_at_once(buffers, count, bytes, round);
    } else {
      for (int i = 0; i < count; ++i) pass(buffers[i], bytes);
    }
  }
  for (int i = 0; i < count; ++i) free(buffers[i]);
}

static int is_known(const void* address) {
  static const void* known[max_addresses];
  static int count;
  for (int i = 0; i < count; ++i) {
    if (known[i] == address) return 1;
  }
  if (count < max_addresses) known[count++] = address;
  return 0;
}

static void again(int rounds) {
  static const size_t sizes[] = {50000, 100000, 400000, 1500000};
  const int kinds = (int)(sizeof sizes / sizeof sizes[0]);
  int came_back = 0;
  for (int round = 0; round < rounds; ++round) {
    const size_t bytes = sizes[round % kinds];
    unsigned char* buffer = malloc(bytes);
    came_back += is_known(buffer);
    for (int use = 0; use < uses; ++use) pass(buffer, bytes);
    if (round / kinds % 2 != 0) {
      buffer = realloc(buffer, 3 * bytes); /* frees, or moves, inside the C library */
      for (int use = 0; use < uses; ++use) pass(buffer, 3 * bytes);
      buffer = realloc(buffer, bytes / 2);
      for (int use = 0; use < uses; ++use) pass(buffer, bytes / 2);
    }
    free(buffer);
    if (round % 5 == 4) malloc_trim(0);
  }
  printf("rank %d: %d of %d addresses came back\n", rank, came_back, rounds);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = world_rank();
  const char* how = argc > 1 ? argv[1] : "";
  const int numbers[] = {argc > 2 ? atoi(argv[2]) : 0, argc > 3 ? atoi(argv[3]) : 0, argc > 4 ? atoi(argv[4]) : 0};
  if (strcmp(how, "one") == 0) {
    one(numbers[0], (size_t)numbers[1]);
  } else if (strcmp(how, "many") == 0 && numbers[0] <= max_buffers) {
    many(numbers[0], numbers[1], (size_t)numbers[2]);
  } else if (strcmp(how, "again") == 0) {
    again(numbers[0]);
  } else {
    fprintf(stderr, "buffers: one, many or again\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (rank == 0) puts("exchange ok");
  MPI_Finalize();
  return 0;
}
