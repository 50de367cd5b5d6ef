/* exchange ROUNDS BYTES: a well-behaved program. Every rank passes messages around a ring, first with a sender that is late,
 * then both at once, and checks every byte. Prints "exchange ok" on rank 0. */
#include "common.h"

static void late_sender(unsigned char* buffer, int bytes, int round) {
  const int rank = world_rank();
  if (rank == 0) {
    usleep(2000);
    fill(buffer, (size_t)bytes, round);
    MPI_Send(buffer, bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(buffer, (size_t)bytes, round);
  }
}

static void ring(unsigned char* buffer, unsigned char* incoming, int bytes, int round) {
  const int rank = world_rank();
  const int size = world_size();
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  MPI_Request requests[2];
  fill(buffer, (size_t)bytes, round * 100 + rank);
  MPI_Irecv(incoming, bytes, MPI_BYTE, previous, 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(buffer, bytes, MPI_BYTE, next, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check(incoming, (size_t)bytes, round * 100 + previous);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  const int bytes = argc > 2 ? atoi(argv[2]) : 1 << 20;
  unsigned char* buffer = malloc((size_t)bytes);
  unsigned char* incoming = malloc((size_t)bytes);
  for (int round = 0; round < rounds; ++round) {
    if (world_size() > 1) late_sender(buffer, bytes, round);
    ring(buffer, incoming, bytes, round);
  }
  free(buffer);
  free(incoming);
  if (world_rank() == 0) puts("exchange ok");
  MPI_Finalize();
  return 0;
}
