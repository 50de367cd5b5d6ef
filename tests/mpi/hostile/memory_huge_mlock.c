// Huge pages and locked memory.
#include <sys/resource.h>

#include "hostile.h"

enum { bytes = 4 * MB, rounds = 4 };

static void transparent_huge_pages(void) {
  char* region = map(bytes + 2 * MB);
  char* buffer = (char*)(((uintptr_t)region + 2 * MB - 1) & ~(uintptr_t)(2 * MB - 1));
  madvise(buffer, bytes, MADV_HUGEPAGE);
  memset(buffer, 1, bytes);
  for (unsigned i = 0; i < rounds; i++) {
    if (late(buffer + 100, bytes - 100, i)) expect_filled(buffer + 100, bytes - 100, i);
  }
  munmap(region, bytes + 2 * MB);
}

static void explicit_huge_pages(void) {
  char* buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  const int there_are = buffer != MAP_FAILED;
  if (!there_are) buffer = map(bytes);  // the machine has none
  for (unsigned i = 0; i < rounds; i++) {
    if (late(buffer, bytes, i)) expect_filled(buffer, bytes, i);
  }
  munmap(buffer, bytes);
}

static void locked_right_after(void) {
  char* buffer = map(large);
  for (unsigned i = 0; i < rounds; i++) {
    const int received = late(buffer, large, i);
    if (received) EXPECT_CALL(mlock(buffer, large), 0);
    if (received) expect_filled(buffer, large, i);
    munlock(buffer, large);
  }
  munmap(buffer, large);
}

static void locked_on_fault(void) {
  char* buffer = map(large);
  for (unsigned i = 0; i < rounds; i++) {
    const int received = late(buffer, large, i);
    if (received) EXPECT_CALL(mlock2(buffer, large, MLOCK_ONFAULT), 0);
    if (received) expect_filled(buffer, large, i);
    munlock(buffer, large);
  }
  munmap(buffer, large);
}

static void locked_before(void) {
  char* buffer = map(large);
  EXPECT_EQ(mlock(buffer, large), 0);
  for (unsigned i = 0; i < rounds; i++) {
    if (late(buffer, large, i)) expect_filled(buffer, large, i);
  }
  munlock(buffer, large);
  munmap(buffer, large);
}

static void everything_locked_right_after(void) {
  char* buffer = map(large);
  const int received = late(buffer, large, 3);
  if (received && mlockall(MCL_CURRENT) != 0) EXPECT(errno == ENOMEM || errno == EPERM, "mlockall: %s", strerror(errno));
  if (received) expect_filled(buffer, large, 3);
  munlockall();
  if (late(buffer, large, 4)) expect_filled(buffer, large, 4);
  munmap(buffer, large);
}

static const Case cases[] = {CASE(transparent_huge_pages, 2), CASE(explicit_huge_pages, 2),
                             CASE(locked_right_after, 2),     CASE(locked_on_fault, 2),
                             CASE(locked_before, 2),          CASE(everything_locked_right_after, 2)};
SUITE(cases)
