/* Buffers that come back as often as is said here, for two ranks: `sluice report --buffers` must count the same.
 *
 * BUFFER rank name address sent received bytes: each buffer that is used more than once, printed at the end */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 40, few = 10, once = 20, synchronous = 3, inline_ = 7, large = 5 };
enum { short_bytes = 600, long_bytes = 3000, inline_bytes = 100, large_bytes = 1 << 18 };

static int rank;
static char often[short_bytes], now_and_then[long_bytes], seldom[once][short_bytes], asked[short_bytes], tiny[inline_bytes],
    announced[large_bytes];

static void receive(char* buffer, int bytes) { MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void send(const char* buffer, int bytes, int is_blocking) {
  MPI_Request request;
  if (is_blocking) {
    MPI_Send(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else {
    MPI_Isend(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/* Rank 0 sends from the same buffers into which rank 1 receives. */
static void turn(char* buffer, int bytes, int times) {
  for (int i = 0; i < times; ++i) {
    if (rank == 0) {
      send(buffer, bytes, i % 2);
    } else {
      receive(buffer, bytes);
    }
  }
}

static void say(const char* name, const char* buffer, int times, int bytes) {
  printf("BUFFER %d %s %llu %d %d %d\n", rank, name, (unsigned long long)(size_t)buffer, rank == 0 ? times : 0,
         rank == 1 ? times : 0, bytes);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  turn(often, short_bytes, most);
  turn(now_and_then, long_bytes, few);
  for (int i = 0; i < once; ++i) turn(seldom[i], short_bytes, 1);
  turn(tiny, inline_bytes, inline_);
  turn(announced, large_bytes, large);
  for (int i = 0; i < synchronous; ++i) {
    if (rank == 0) {
      MPI_Ssend(asked, short_bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else {
      receive(asked, short_bytes);
    }
  }
  MPI_Finalize();
  say("often", often, most, short_bytes);
  say("now_and_then", now_and_then, few, long_bytes);
  say("tiny", tiny, inline_, inline_bytes);
  say("announced", announced, large, large_bytes);
  say("asked", asked, synchronous, short_bytes);
  return 0;
}
