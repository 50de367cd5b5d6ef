// processes_endings HOW: rank 1 receives a message that is late and ends at once, without MPI_Finalize; senders say "sent".
//   return, exit, _exit, quick_exit, exec, abort; alarm_exit, alarm__exit: in a signal handler, on top of a receive for ever
#include <signal.h>

#include "hostile.h"

static const char* how;

static void end(int signal) {
  (void)signal;
  if (strstr(how, "_exit") && strcmp(how, "quick_exit") != 0 && strcmp(how, "alarm_exit") != 0) _exit(3);
  exit(3);
}

static int receiver(void) {
  char* buffer = map(large);
  if (strncmp(how, "alarm", 5) == 0) {
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGALRM, &action, NULL);
    ualarm(300000, 0);
    MPI_Recv(map(large), large, MPI_BYTE, rank - 1, 3, WORLD, IGNORE);  // nobody sends
    MPI_Recv(buffer, large, MPI_BYTE, rank - 1, 2, WORLD, IGNORE);
  }
  late(buffer, large, 1);
  if (strcmp(how, "exit") == 0) exit(0);
  if (strcmp(how, "_exit") == 0) _exit(0);
  if (strcmp(how, "quick_exit") == 0) quick_exit(0);
  if (strcmp(how, "exec") == 0) execl("/bin/true", "true", (char*)NULL);
  if (strcmp(how, "abort") == 0) MPI_Abort(WORLD, 42);
  return 0;
}

int main(int argc, char** argv) {
  how = argc > 1 ? argv[1] : "return";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  if (rank == 1) return receiver();
  if (strncmp(how, "alarm", 5) == 0) {
    pause_ms(900);
    return 0;
  }
  if (rank == 0) {
    late(NULL, large, 1);
    printf("sent\n");
    fflush(stdout);
  }
  if (strcmp(how, "abort") == 0) MPI_Recv(map(large), large, MPI_BYTE, 1, 3, WORLD, IGNORE);  // nobody sends
  pause_ms(500);
  return 0;
}
