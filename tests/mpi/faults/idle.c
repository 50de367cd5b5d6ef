/* idle WAY SECONDS: processor time of a process that sleeps while a message is outstanding, in milliseconds.
 *   posted    a nonblocking receive is posted during the sleep
 *   released  a blocking receive whose sender is late has returned early, if it can; its buffer is touched after the sleep
 *   nothing   nothing is outstanding; messages were exchanged before */
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "common.h"

enum { bytes = 1 << 20 };

static double processor_milliseconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static double measured_sleep(double seconds) {
  const double before = processor_milliseconds();
  struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
  return processor_milliseconds() - before;
}

static double receive_and_sleep(const char* way, unsigned char* buffer, int round, double seconds) {
  MPI_Request request = MPI_REQUEST_NULL;
  double used = 0;
  if (strcmp(way, "posted") == 0) {
    MPI_Irecv(buffer, bytes, MPI_BYTE, 1, round, MPI_COMM_WORLD, &request);
    used = measured_sleep(seconds);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (strcmp(way, "released") == 0) {
    MPI_Recv(buffer, bytes, MPI_BYTE, 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    used = measured_sleep(seconds);
  } else {
    used = measured_sleep(seconds);
    MPI_Recv(buffer, bytes, MPI_BYTE, 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  check(buffer, bytes, round);
  return used;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "posted";
  const double seconds = argc > 2 ? atof(argv[2]) : 10;
  enum { rounds = 4 };
  MPI_Init(&argc, &argv);
  unsigned char* buffer = malloc(bytes);
  for (int round = 1; round <= rounds; ++round) {
    const double pause = round == rounds ? seconds : 0.02;
    if (world_rank() == 1) {
      fill(buffer, bytes, round);
      const double used = measured_sleep(strcmp(way, "released") == 0 ? pause * 0.8 : pause);
      MPI_Send(buffer, bytes, MPI_BYTE, 0, round, MPI_COMM_WORLD);
      if (round == rounds) printf("sender idle %.3f\n", used);
    } else if (world_rank() == 0) {
      const double used = receive_and_sleep(way, buffer, round, pause);
      if (round == rounds) printf("receiver idle %.3f\n", used);
    }
  }
  MPI_Finalize();
  return 0;
}
