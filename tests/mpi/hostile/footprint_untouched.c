// Memory that was never written to is sent, and is the room for messages that are shorter: none of it becomes real.
#include "footprint.h"

enum { array = 192 * MB, piece = MB, rounds = 10 };

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(WORLD, &rank);
  char* sparse = calloc(array, 1);
  char* small = allocate(piece);
  memset(small, 1, piece);
  int wrong = 0;
  for (int round = 0; round < rounds; round++) {
    for (size_t at = 0; at < array; at += piece) {
      if (rank == 0) MPI_Send(sparse + at, piece, MPI_BYTE, 1, 0, WORLD);
      if (rank == 1) MPI_Recv(small, piece, MPI_BYTE, 0, 0, WORLD, IGNORE), wrong |= small[at % piece];
    }
    // A receive of all, of which the message fills the first part.
    if (rank == 1) MPI_Send(small, piece, MPI_BYTE, 0, 1, WORLD);
    if (rank == 0) {
      MPI_Status status;
      int got = 0;
      MPI_Recv(sparse, array, MPI_BYTE, 1, 1, WORLD, &status);
      MPI_Get_count(&status, MPI_BYTE, &got);
      wrong |= got != piece;
    }
  }
  say_most(rank, "untouched");
  MPI_Finalize();
  return wrong;
}
