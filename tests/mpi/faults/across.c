/* across HOW: two ranks on two hosts, whose link or sockets somebody disturbs meanwhile.
 *   exchange SECONDS BYTES   messages of BYTES to and fro for that long, every byte checked
 *   idle SECONDS             rank 0 receives what rank 1 sends after that time; nothing is on its way until then
 *   slow SECONDS             rank 0 sends 128 MB in small messages, rank 1 computes for that long before it receives them;
 *                            rank 0's memory must not hold them meanwhile
 * When the ranks have talked, rank 0 makes the file that $ACROSS_BEGUN names: disturbing MPI_Init is another matter. */
#include <string.h>
#include <time.h>

#include "common.h"

enum { hello = 1, data = 2, max_growth_kb = 32 * 1024, small_bytes = 32 * 1024, small_count = 4096 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void compute(double seconds) {
  volatile unsigned sink = 0;
  for (const double end = now() + seconds; now() < end;) {
    for (int i = 0; i < 100000; ++i) sink += (unsigned)i;
    usleep(10000);
  }
}

static long peak_memory_kb(void) {
  long peak = 0;
  char line[256];
  FILE* status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status)) {
    if (sscanf(line, "VmHWM: %ld", &peak) == 1) break;
  }
  fclose(status);
  return peak;
}

static void begin(unsigned char* buffer, int other) {
  MPI_Sendrecv(buffer, 1, MPI_BYTE, other, hello, buffer + 1, 1, MPI_BYTE, other, hello, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const char* begun = getenv("ACROSS_BEGUN");
  if (other == 1 && begun) fclose(fopen(begun, "w"));
}

static void exchange(int rank, double seconds, size_t bytes) {
  unsigned char* buffer = malloc(bytes);
  const double end = now() + seconds;
  int message = 0;
  for (int go_on = 1; go_on; ++message) {
    if (rank == 0) {
      go_on = now() < end;
      fill(buffer, bytes, message);
      MPI_Send(&go_on, 1, MPI_INT, 1, hello, MPI_COMM_WORLD);
      MPI_Send(buffer, (int)bytes, MPI_BYTE, 1, data, MPI_COMM_WORLD);
      memset(buffer, 0, bytes);
      MPI_Recv(buffer, (int)bytes, MPI_BYTE, 1, data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(buffer, bytes, message + 1);
    } else {
      MPI_Recv(&go_on, 1, MPI_INT, 0, hello, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      memset(buffer, 0, bytes);
      MPI_Recv(buffer, (int)bytes, MPI_BYTE, 0, data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(buffer, bytes, message);
      fill(buffer, bytes, message + 1);
      MPI_Send(buffer, (int)bytes, MPI_BYTE, 0, data, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) printf("exchange ok, %d messages\n", message);
  free(buffer);
}

static void idle(int rank, double seconds) {
  unsigned char byte = 0;
  if (rank == 1) {
    sleep((unsigned)seconds);
    MPI_Send(&byte, 1, MPI_BYTE, 0, data, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&byte, 1, MPI_BYTE, 1, data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("went on\n");
  }
}

static void slow(int rank, double seconds) {
  unsigned char* buffer = malloc(small_bytes);
  if (rank == 1) compute(seconds);
  const long before = peak_memory_kb();
  for (int message = 0; message < small_count; ++message) {
    if (rank == 0) {
      fill(buffer, small_bytes, message);
      MPI_Send(buffer, small_bytes, MPI_BYTE, 1, data, MPI_COMM_WORLD);
    } else {
      MPI_Recv(buffer, small_bytes, MPI_BYTE, 0, data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(buffer, small_bytes, message);
    }
  }
  const long growth = peak_memory_kb() - before;
  if (rank == 0) printf("sender grew by %ld KB: %s\n", growth, growth <= max_growth_kb ? "bounded" : "TOO MUCH");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("exchange ok\n");
  free(buffer);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = world_rank();
  unsigned char byte[2] = {0, 0};
  begin(byte, 1 - rank);
  const char* how = argc > 1 ? argv[1] : "exchange";
  const double seconds = argc > 2 ? atof(argv[2]) : 1;
  if (strcmp(how, "exchange") == 0) {
    exchange(rank, seconds, argc > 3 ? (size_t)atol(argv[3]) : 1000000);
  } else if (strcmp(how, "idle") == 0) {
    idle(rank, seconds);
  } else {
    slow(rank, seconds);
  }
  MPI_Finalize();
  return 0;
}
