// mremap of a buffer that a late message was received into.
#include <sys/mman.h>

#include "late.h"

static char* map(size_t bytes, int flags) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) MPI_Abort(WORLD, 5);
  return memory;
}

static void moved_after_it_was_read(void) {
  char* buffer = map(MB, MAP_PRIVATE);
  const int received = late_message(buffer, MB, 4);
  if (received) expect_filled(buffer, MB, 4);
  char* moved = mremap(buffer, MB, 3 * MB, MREMAP_MAYMOVE);
  EXPECT(moved != MAP_FAILED, "mremap failed");
  if (received) expect_filled(moved, MB, 4);
  if (late_message(moved, 3 * MB, 5)) expect_filled(moved, 3 * MB, 5);
  munmap(moved, 3 * MB);
}

static void moved_at_once(void) {
  char* buffer = map(MB, MAP_PRIVATE);
  const int received = late_message(buffer, MB, 4);
  char* moved = mremap(buffer, MB, 3 * MB, MREMAP_MAYMOVE);
  EXPECT(moved != MAP_FAILED, "mremap failed");
  if (received) expect_filled(moved, MB, 4);
  if (late_message(moved, 3 * MB, 5)) expect_filled(moved, 3 * MB, 5);
  munmap(moved, 3 * MB);
}

static const Case cases[] = {CASE(moved_after_it_was_read, 2), CASE(moved_at_once, 2)};
SUITE(cases)
