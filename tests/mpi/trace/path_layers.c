/* A library of three layers, as a solver has them, which the program calls from several lines. */
#include "path_layers.h"

#include <mpi.h>

static __attribute__((noinline)) void inner(int* value) {
  MPI_Recv(value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ++*value;
}

/* An array of variable length: there is no fixed distance between frames. */
static __attribute__((noinline)) void middle(int* value, int length) {
  volatile char room[length];
  room[0] = 1;
  inner(value);
  *value += room[0] - 1;
}

__attribute__((noinline)) void outer(int* value, int length) {
  middle(value, length);
  ++*value;
}
