/* vanishes WHEN: rank 1 is killed with SIGKILL while a rendezvous with rank 0 is under way.
 *   receiving   rank 1 dies while it receives (rank 0 is in MPI_Send)
 *   sending     rank 1 dies while it sends (rank 0 is in MPI_Recv)
 *   announced   rank 1 has started a send and dies without another MPI call (rank 0 receives it later)
 *   released    rank 0's receive may have returned early; rank 1 dies before it sends; rank 0 touches the buffer
 *   silent      rank 1 dies computing; rank 0 waits for a message that was never announced */
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "common.h"

static void die(int signal) {
  (void)signal;
  kill(getpid(), SIGKILL);
}

static void die_after(int milliseconds) {
  struct itimerval timer = {{0, 0}, {milliseconds / 1000, milliseconds % 1000 * 1000}};
  signal(SIGALRM, die);
  setitimer(ITIMER_REAL, &timer, NULL);
}

static const int bytes = 256 << 20;

static void victim(const char* when, unsigned char* buffer) {
  MPI_Request request;
  if (strcmp(when, "receiving") == 0) {
    die_after(5);
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < bytes; i += 4096) buffer[0] = (unsigned char)(buffer[0] + buffer[i]);
  } else if (strcmp(when, "sending") == 0) {
    die_after(5);
    MPI_Send(buffer, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
  } else if (strcmp(when, "announced") == 0) {
    MPI_Isend(buffer, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &request);
    usleep(20000);
  } else {
    usleep(50000);
  }
  die(0);
}

static void survivor(const char* when, unsigned char* buffer) {
  if (strcmp(when, "receiving") == 0) {
    MPI_Send(buffer, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
  } else {
    if (strcmp(when, "announced") == 0) usleep(100000);
    MPI_Recv(buffer, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(when, "released") == 0) printf("touching: %d\n", buffer[bytes - 1]);
  }
  /* Should the transfer have been faster than the kill: this message never comes. */
  MPI_Recv(buffer, 1, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  unsigned sum = 0;
  for (int i = 0; i < bytes; i += 4096) sum += buffer[i];
  printf("rank %d went on without rank 1, %u\n", world_rank(), sum);
}

int main(int argc, char** argv) {
  const char* when = argc > 1 ? argv[1] : "sending";
  MPI_Init(&argc, &argv);
  unsigned char* buffer = malloc((size_t)bytes);
  memset(buffer, 1, (size_t)bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 1) {
    victim(when, buffer);
  } else if (world_rank() == 0) {
    survivor(when, buffer);
  } else {
    MPI_Recv(buffer, 1, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
