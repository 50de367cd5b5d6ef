// The end of the heap is given back and taken again while messages arrive in it.
#include <malloc.h>

#include "hostile.h"

enum { bytes = 200000, rounds = 8 };

static void trimmed(void) {
  mallopt(M_MMAP_THRESHOLD, 64 * MB);
  mallopt(M_TRIM_THRESHOLD, 64 * MB);
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = allocate(bytes);
    late(buffer, bytes, i);
    free(buffer);
    malloc_trim(0);
    char* next = calloc(bytes, 1);
    pause_ms(14);
    expect_all(next, bytes, 0);
    free(next);
  }
}

static void trimmed_by_itself(void) {
  mallopt(M_MMAP_THRESHOLD, 64 * MB);
  mallopt(M_TRIM_THRESHOLD, 0);
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = allocate(bytes);
    late(buffer, bytes, i);
    free(buffer);
    char* next = allocate(bytes);
    memset(next, (int)i, bytes);
    pause_ms(14);
    expect_all(next, bytes, (int)i);
    free(next);
  }
}

// Only the receiver moves the end of its heap, and only while nobody else has taken memory there.
static void at_the_end(char* (*grow)(char*), int (*shrink)(char*)) {
  for (unsigned i = 0; i < rounds; i++) {
    const int receives = rank % 2 != 0;
    char* start = receives ? grow(sbrk(0)) : NULL;
    const int received = late(start, bytes, i);
    if (!receives || (char*)sbrk(0) != start + bytes) continue;
    EXPECT(shrink(start) == 0, "the heap cannot shrink: %s", strerror(errno));
    EXPECT(grow(start) == start, "the heap ends elsewhere");
    pause_ms(14);
    const size_t unused = (size_t)(-(uintptr_t)start & (page - 1));  // its first page was the heap's before
    if (received) expect_all(start + unused, bytes - unused, 0);
    shrink(start);
  }
}

static char* grow_by_sbrk(char* start) { return sbrk(bytes) == start ? start : MAP_FAILED; }
static int shrink_by_sbrk(char* start) { return sbrk(-bytes) == start + bytes ? 0 : -1; }
static char* grow_by_brk(char* start) { return brk(start + bytes) == 0 ? start : MAP_FAILED; }
static int shrink_by_brk(char* start) { return brk(start); }

static void by_sbrk(void) { at_the_end(grow_by_sbrk, shrink_by_sbrk); }
static void by_brk(void) { at_the_end(grow_by_brk, shrink_by_brk); }

static const Case cases[] = {CASE(trimmed, 2), CASE(trimmed_by_itself, 2), CASE(by_sbrk, 2), CASE(by_brk, 2)};
SUITE(cases)
