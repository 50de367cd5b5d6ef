// Signal handlers that write, whatever they interrupt: also a receive that waits while an earlier one is still incomplete.
#include <signal.h>
#include <sys/time.h>

#include "hostile.h"

static int sink;
static volatile sig_atomic_t written;

static void on_alarm(int signal) {
  (void)signal;
  const int kept = errno;
  if (write(sink, "x", 1) == 1) written++;
  errno = kept;
}

static void written_in_the_middle_of_receives(void) {
  const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  sink = open("/dev/null", O_WRONLY);
  char* first = map(large);
  char* second = map(large);
  for (unsigned i = 0; i < 20 && partner() < size; i++) {
    if (rank % 2 == 0) {
      fill(first, large, i);
      late_by();
      MPI_Send(first, large, MPI_BYTE, partner(), 1, WORLD);
      late_by();
      MPI_Send(first, 1000, MPI_BYTE, partner(), 2, WORLD);
    } else {
      sigaction(SIGALRM, &action, NULL);
      setitimer(ITIMER_REAL, &often, NULL);
      MPI_Recv(first, large, MPI_BYTE, partner(), 1, WORLD, IGNORE);
      MPI_Recv(second, 1000, MPI_BYTE, partner(), 2, WORLD, IGNORE);
      setitimer(ITIMER_REAL, &never, NULL);
      expect_filled(first, large, i);
      expect_filled(second, 1000, i);
    }
  }
  EXPECT(rank % 2 == 0 || written > 0, "no signal came");
  munmap(first, large);
  munmap(second, large);
  close(sink);
}

static const Case cases[] = {CASE(written_in_the_middle_of_receives, 2)};
SUITE(cases)
