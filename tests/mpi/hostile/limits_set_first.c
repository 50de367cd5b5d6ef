// Limits that are in force before MPI_Init, as a batch system sets them: NAME=SOFT in arguments of the form as=BYTES.
#include <sys/resource.h>

#include "hostile.h"

enum { bytes = 3 * MB + 77, rounds = 8 };

static const struct {
  const char* name;
  int resource;
} known[] = {
    {"as", RLIMIT_AS}, {"data", RLIMIT_DATA}, {"nofile", RLIMIT_NOFILE}, {"memlock", RLIMIT_MEMLOCK}, {"stack", RLIMIT_STACK}};

static void limit(const char* argument) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const size_t length = strlen(known[i].name);
    if (strncmp(argument, known[i].name, length) != 0 || argument[length] != '=') continue;
    const rlim_t max = strtoull(argument + length + 1, NULL, 10);
    const struct rlimit limits = {max, max};
    if (setrlimit(known[i].resource, &limits) != 0) exit(3);
  }
}

static void exchanged(void) {
  char* buffer = allocate(bytes);
  for (unsigned i = 0; i < rounds; i++) {
    if (late(buffer, bytes, i)) expect_filled(buffer, bytes, i);
  }
  free(buffer);
  char* large_one = malloc(100 * MB);
  EXPECT(large_one != NULL, "malloc of 100 MB: %s", strerror(errno));
  free(large_one);
}

static const Case cases[] = {CASE(exchanged, 2)};

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) limit(argv[i]);
  MPI_Init(&argc, &argv);
  run_cases(cases, 1, 1, argv);
  const int failed = verdict();
  MPI_Finalize();
  return failed;
}
