// Descriptors: a program finds its limit, and the numbers that it gets, as they are without Sluice.
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/select.h>

#include "suite.h"

static int opens_files(int max_files, int* files) {
  int opened = 0;
  while (opened < max_files && (files[opened] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) opened++;
  return opened;
}

static void close_files(const int* files, int opened) {
  for (int i = 0; i < opened; i++) close(files[i]);
}

static void the_limit_is_as_before(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  note("soft %lld hard %lld", (long long)limit.rlim_cur, (long long)limit.rlim_max);
}

// Names of what Sluice opened begin with its own, or have none; those of the host are others.
static void its_own_lie_above_what_select_takes(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < FD_SETSIZE + 256) return;
  DIR* all = opendir("/proc/self/fd");
  EXPECT(all != NULL, "no /proc/self/fd");
  for (struct dirent* entry; all && (entry = readdir(all)) != NULL;) {
    char name[64] = "", file[256] = "";
    snprintf(name, sizeof name, "/proc/self/fd/%.20s", entry->d_name);
    if (readlink(name, file, sizeof file - 1) < 0) continue;
    EXPECT(!strstr(file, "sluice") || atoi(entry->d_name) >= FD_SETSIZE, "%s is %s", name, file);
  }
  if (all) closedir(all);
}

// A limit that the program sets itself leaves it as many as without Sluice.
static void as_many_can_be_opened(void) {
  enum { limit_then = 256 };
  struct rlimit before, low;
  getrlimit(RLIMIT_NOFILE, &before);
  low = before;
  low.rlim_cur = limit_then;
  int files[limit_then];
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const int opened = opens_files(limit_then, files);
  EXPECT(opened > limit_then / 2, "%d of %d", opened, limit_then);
  close_files(files, opened);
  setrlimit(RLIMIT_NOFILE, &before);
}

static void pass_on(char* out, char* in, int bytes) {
  MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % size, 0, in, bytes, MPI_CHAR, (rank + size - 1) % size, 0, WORLD, IGNORE);
  EXPECT_EQ(in[bytes - 1], (rank + size - 1) % size + 1);
}

// ... and messages go on meanwhile between those that have met.
static void messages_pass_with_none_left(void) {
  enum { limit_then = 256, bytes = 1 * MB };
  struct rlimit before, low;
  getrlimit(RLIMIT_NOFILE, &before);
  low = before;
  low.rlim_cur = limit_then;
  char* out = allocate(bytes);
  char* in = allocate(bytes);
  memset(out, rank + 1, bytes);
  pass_on(out, in, bytes);
  int files[limit_then];
  setrlimit(RLIMIT_NOFILE, &low);
  const int opened = opens_files(limit_then, files);
  for (int round = 0; round < 8; round++) pass_on(out, in, bytes);
  close_files(files, opened);
  setrlimit(RLIMIT_NOFILE, &before);
  free(out);
  free(in);
}

static const Case cases[] = {{"the_limit_is_as_before", 1, the_limit_is_as_before},
                             {"its_own_lie_above_what_select_takes", 1, its_own_lie_above_what_select_takes},
                             {"as_many_can_be_opened", 1, as_many_can_be_opened},
                             {"messages_pass_with_none_left", 2, messages_pass_with_none_left}};
SUITE(cases)
