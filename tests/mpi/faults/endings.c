/* endings HOW: every way to end other than MPI_Finalize and return, while messages are outstanding.
 *   return, exit, quick_exit, abort (MPI_Abort), wild (a wild access), signal (SIGTERM), other_exit (rank 1 only)
 *   finalize: as it should be, then exit */
#include <signal.h>
#include <string.h>

#include "common.h"

enum { bytes = 1 << 20 };

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "return";
  MPI_Init(&argc, &argv);
  unsigned char* incoming = malloc(bytes);
  unsigned char* outgoing = malloc(bytes);
  MPI_Request requests[2];
  const int partner = world_rank() ^ 1;
  fill(outgoing, bytes, 1);
  MPI_Irecv(incoming, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(outgoing, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check(incoming, bytes, 1);
  MPI_Irecv(incoming, bytes, MPI_BYTE, partner, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d ends\n", world_rank());
  fflush(stdout);
  if (strcmp(how, "exit") == 0) exit(7);
  if (strcmp(how, "quick_exit") == 0) _exit(8);
  if (strcmp(how, "abort") == 0 && world_rank() == 1) MPI_Abort(MPI_COMM_WORLD, 42);
  if (strcmp(how, "wild") == 0 && world_rank() == 1) {
    int* volatile nowhere = (int*)16;  // volatile, or the compiler knows better
    *nowhere = 1;
  }
  if (strcmp(how, "signal") == 0 && world_rank() == 1) raise(SIGTERM);
  if (strcmp(how, "other_exit") == 0 && world_rank() == 1) exit(9);
  if (strcmp(how, "return") == 0) return 0;
  if (strcmp(how, "finalize") == 0) {
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Finalize();
    exit(0);
  }
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /* of the rank that goes on: never comes */
  return 0;
}
