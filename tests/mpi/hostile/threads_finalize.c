// A thread works on what was received while MPI_Finalize runs.
#include <pthread.h>

#include "hostile.h"

enum { bytes = 8 * MB, rounds = 3, step = page / sizeof(unsigned long) };

static unsigned long* words;
static volatile int stop;

// One word in each page holds the number of the last round that came to it.
static void* works(void* unused) {
  for (unsigned long round = 1; !stop; round++) {
    for (size_t i = 0; i < bytes / sizeof(long); i += step) ((volatile unsigned long*)words)[i] = round;
    for (size_t i = 0; i < bytes / sizeof(long); i += step) EXPECT_EQ(((volatile unsigned long*)words)[i], round);
  }
  return unused;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  words = (unsigned long*)map(bytes);
  for (unsigned i = 0; i < rounds; i++) {
    if (late(words, bytes, i)) expect_filled((char*)words, bytes, i);
  }
  pthread_t thread;
  pthread_create(&thread, NULL, works, NULL);
  pause_ms(5);
  MPI_Finalize();
  stop = 1;
  pthread_join(thread, NULL);
  return failures > 0;
}
