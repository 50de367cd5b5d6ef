// A late sender and what its receiver does with the buffer: the situation in which a receive returns early.
#pragma once

#include "suite.h"

enum { large = 600000 };

typedef int (*Receive)(void* buffer, int bytes, MPI_Status* status);

UNUSED_OK static int plain_receive(void* buffer, int bytes, MPI_Status* status) {
  return MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, WORLD, status);
}

// Rank 0 sends `bytes` bytes of pattern `seed` late; `true` on the rank that received them, which is rank 1.
UNUSED_OK static int late_message(void* buffer, int bytes, unsigned seed) {
  if (rank == 0) {
    char* sent = allocate((size_t)bytes);
    fill(sent, (size_t)bytes, seed);
    be_late();
    MPI_Send(sent, bytes, MPI_BYTE, 1, 1, WORLD);
    free(sent);
  } else if (rank == 1) {
    plain_receive(buffer, bytes, MPI_STATUS_IGNORE);
  }
  return rank == 1;
}
