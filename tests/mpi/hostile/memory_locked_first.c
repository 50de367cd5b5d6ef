// All memory is locked before MPI starts, what is mapped later included.
#include <sys/resource.h>

#include "hostile.h"

static void received_into_locked_memory(void) {
  char* buffer = map(large);
  for (unsigned i = 0; i < 4; i++) {
    if (late(buffer, large, i)) expect_filled(buffer, large, i);
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  EXPECT(usage.ru_maxrss < 2 * MB, "%ld KB are resident", usage.ru_maxrss);
  munmap(buffer, large);
}

static const Case cases[] = {CASE(received_into_locked_memory, 2)};

int main(int argc, char** argv) {
  mlockall(MCL_CURRENT | MCL_FUTURE);  // where it is not allowed, nothing is locked
  MPI_Init(&argc, &argv);
  run_cases(cases, 1, argc, argv);
  const int failed = verdict();
  MPI_Finalize();
  return failed;
}
