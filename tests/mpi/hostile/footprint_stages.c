// Most of a program's memory is exchanged, freed, allocated anew, and there is a time after MPI_Finalize. What is held in each
// stage, at most, is compared with the host's.
#include <time.h>

#include "footprint.h"

enum { array = 176 * MB, rounds = 8 };

static void exchange(char* memory, size_t piece) {
  for (int round = 0; round < rounds; round++) {
    for (size_t at = 0; at < array; at += piece) {
      const int bytes = (int)(array - at < piece ? array - at : piece);
      if (rank == 0) MPI_Send(memory + at, bytes, MPI_BYTE, 1, 0, WORLD);
      if (rank == 1) MPI_Recv(memory + at, bytes, MPI_BYTE, 0, 0, WORLD, IGNORE);
    }
  }
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// What was freed is found by looking now and then, so it may be held for a while beside what is new.
static void compute_until_given_back(void) {
  const long wanted_kb = (long)(array / KB) + 64 * 1024;
  enum { max_ms = 5000, lasting_ms = 20 };
  int given_back_ms = 0;
  for (int ms = 0; ms < max_ms && given_back_ms < lasting_ms; ms++) {
    const double until = seconds() + 1e-3;
    while (seconds() < until) continue;
    given_back_ms = held_kb() <= wanted_kb ? given_back_ms + 1 : 0;
  }
  atomic_store(&max_kb, 0);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  const size_t piece = count > 1 ? (size_t)atol(arguments[1]) * KB : array;
  pthread_t watcher;
  pthread_create(&watcher, NULL, watch_memory, NULL);
  char* memory = allocate(array);
  memset(memory, 1, array);
  exchange(memory, piece);
  say_most(rank, "exchanged");
  MPI_Barrier(WORLD);
  free(memory);
  memory = allocate(array);
  memset(memory, 2, array);
  compute_until_given_back();
  say_most(rank, "freed");
  exchange(memory, piece);
  MPI_Finalize();
  say_most(rank, "finalized");
  free(memory);
  memory = allocate(array);
  memset(memory, 3, array);
  compute_until_given_back();
  say_most(rank, "freed-again");
  atomic_store(&watched, 0);
  pthread_join(watcher, NULL);
  return memory[array / 2] != 3;
}
