/* truncated_late: the receive comes long before the message, which is longer than the buffer. Sluice has returned from
 * MPI_Recv by then; the program must end with a message that names the call, the peer and the tag. A few fitting
 * messages go before, so that the buffer is known. Prints "went on" if the error is lost. */
#include "common.h"

enum { tag = 4711, capacity = 1 << 20, rounds = 6 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  unsigned char* buffer = malloc(2 * capacity);
  for (int round = 1; round <= rounds; ++round) {
    const int bytes = round < rounds ? capacity : 2 * capacity;
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 1) {
      usleep(30000);
      fill(buffer, (size_t)bytes, round);
      MPI_Send(buffer, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    } else if (world_rank() == 0) {
      MPI_Recv(buffer, capacity, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      usleep(30000);
      check(buffer, capacity, round);
    }
  }
  if (world_rank() == 0) puts("went on");
  MPI_Finalize();
  return 0;
}
