// A child that shares this memory limits its own address space: this process has no limit, and goes on releasing.
#include <sys/resource.h>
#include <sys/wait.h>

#include "hostile.h"

enum { bytes = 2 * MB + 77, rounds = 6 };

static void limit_of_a_child(void) {
  const struct rlimit gigabyte = {(rlim_t)1 << 30, (rlim_t)1 << 30};
  const pid_t child = vfork();
  if (child == 0) _exit(setrlimit(RLIMIT_AS, &gigabyte) == 0 ? 0 : 1);
  int status = -1;
  EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0, "the child ended with %d", status);
  struct rlimit own;
  getrlimit(RLIMIT_AS, &own);
  EXPECT(own.rlim_cur == RLIM_INFINITY, "this process is limited");
}

static void messages_after_it(void) {
  if (partner() >= size) return;
  char* buffer = allocate(bytes);
  for (unsigned round = 0; round < 2 * rounds; round++) {
    if ((rank + (int)round) % 2 == 0) {
      fill(buffer, bytes, round);
      pause_ms(3);
      MPI_Send(buffer, bytes, MPI_BYTE, partner(), 1, WORLD);
    } else {
      MPI_Recv(buffer, bytes, MPI_BYTE, partner(), 1, WORLD, IGNORE);
      expect_filled(buffer, bytes, round);
    }
  }
  free(buffer);
}

static const Case cases[] = {CASE(limit_of_a_child, 1), CASE(messages_after_it, 2)};
SUITE(cases)
