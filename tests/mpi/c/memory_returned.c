// Buffers that are given back, moved, grown or changed right after a late message was received into them.
#include <malloc.h>
#include <sys/mman.h>

#include "late.h"

static char* map(size_t bytes, int flags) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) MPI_Abort(WORLD, 5);
  return memory;
}

static void freed_at_once_and_allocated_again(void) {
  for (unsigned i = 0; i < 12; i++) {
    char* buffer = allocate(large);
    late_message(buffer, large, i);
    free(buffer);
    char* next = allocate(large);  // often the same address
    memset(next, (int)i, large);
    pause_ms(1);
    expect_all(next, large, (int)i);
    free(next);
  }
}

static void freed_and_trimmed(void) {
  for (unsigned i = 0; i < 6; i++) {
    char* buffer = allocate(8 * MB);
    if (late_message(buffer, 8 * MB, i) && i % 2) expect_filled(buffer, 8 * MB, i);
    free(buffer);
    malloc_trim(0);
  }
}

static void small_blocks_after_a_large_one_was_freed(void) {
  char* buffer = allocate(100000);
  late_message(buffer, 100000, 1);
  late_message(buffer, 100000, 2);
  free(buffer);
  char* blocks[300];
  for (int i = 0; i < 300; i++) memset(blocks[i] = allocate(700), i, 700);
  pause_ms(1);
  for (int i = 0; i < 300; i++) {
    expect_all(blocks[i], 700, i);
    free(blocks[i]);
  }
}

static void unmapped_at_once_and_mapped_again(void) {
  for (unsigned i = 0; i < 6; i++) {
    char* buffer = map(large, MAP_PRIVATE);
    late_message(buffer, large, i);
    munmap(buffer, large);
    char* again = mmap(buffer, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect_all(again, large, 0);
    if (late_message(again, large, i + 50)) expect_filled(again, large, i + 50);
    munmap(again, large);
  }
}

static void grown_by_realloc(void) {
  for (unsigned i = 0; i < 6; i++) {
    char* buffer = allocate(large);
    const int received = late_message(buffer, large, i);
    buffer = realloc(buffer, 5 * large);
    if (received) expect_filled(buffer, large, i);
    if (late_message(buffer + large, 4 * large, i + 20)) {
      expect_filled(buffer, large, i);
      expect_filled(buffer + large, 4 * large, i + 20);
    }
    free(buffer);
  }
}

static void shrunk_by_realloc(void) {
  char* buffer = allocate(4 * MB);
  const int received = late_message(buffer, 4 * MB, 3);
  buffer = realloc(buffer, MB);
  if (received) expect_filled(buffer, MB, 3);
  free(buffer);
}

static void dropped_by_madvise(void) {
  char* buffer = map(MB, MAP_PRIVATE);
  for (unsigned i = 0; i < 3; i++) {
    if (late_message(buffer, MB, i)) expect_filled(buffer, MB, i);
    madvise(buffer, MB, MADV_DONTNEED);
    if (rank == 1) expect_all(buffer, MB, 0);
  }
  munmap(buffer, MB);
}

static void read_only_afterwards(void) {
  char* buffer = map(MB, MAP_PRIVATE);
  for (unsigned i = 0; i < 3; i++) {
    const int received = late_message(buffer, MB, i);
    if (received) expect_filled(buffer, MB, i);
    mprotect(buffer, MB, PROT_READ);
    if (received) expect_filled(buffer, MB, i);
    mprotect(buffer, MB, PROT_READ | PROT_WRITE);
  }
  munmap(buffer, MB);
}

static const Case cases[] = {CASE(freed_at_once_and_allocated_again, 2),
                             CASE(freed_and_trimmed, 2),
                             CASE(small_blocks_after_a_large_one_was_freed, 2),
                             CASE(unmapped_at_once_and_mapped_again, 2),
                             CASE(grown_by_realloc, 2),
                             CASE(shrunk_by_realloc, 2),
                             CASE(dropped_by_madvise, 2),
                             CASE(read_only_afterwards, 2)};
SUITE(cases)
