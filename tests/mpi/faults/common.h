/* Contents of messages, and waiting, for the programs of this directory. */
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline unsigned char content(int message, size_t position) {
  return (unsigned char)((size_t)message * 131 + position * 7 + position / 4096);
}

static inline void fill(unsigned char* buffer, size_t bytes, int message) {
  for (size_t i = 0; i < bytes; ++i) buffer[i] = content(message, i);
}

/* Ends the process with code 3 when a byte is wrong. */
static inline void check(const unsigned char* buffer, size_t bytes, int message) {
  for (size_t i = 0; i < bytes; ++i) {
    if (buffer[i] == content(message, i)) continue;
    fprintf(stderr, "WRONG DATA in message %d: byte %zu of %zu is 0x%02x, expected 0x%02x\n", message, i, bytes, buffer[i],
            content(message, i));
    _exit(3);
  }
}

static inline int world_rank(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

static inline int world_size(void) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}
