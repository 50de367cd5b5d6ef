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

static void by_sbrk(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* start = sbrk(bytes);
    if (start == (void*)-1) return;
    const int received = late(start, bytes, i);
    if ((char*)sbrk(0) != start + bytes) return;  // the allocator took some
    EXPECT(sbrk(-bytes) != (void*)-1, "sbrk: %s", strerror(errno));
    EXPECT((char*)sbrk(bytes) == start, "the heap ends elsewhere");
    pause_ms(14);
    const size_t unused = (size_t)(-(uintptr_t)start & (page - 1));  // its first page was the heap's before
    if (received) expect_all(start + unused, bytes - unused, 0);
    sbrk(-bytes);
  }
}

static void by_brk(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* start = sbrk(0);
    if (brk(start + bytes) != 0) return;
    const int received = late(start, bytes, i);
    if ((char*)sbrk(0) != start + bytes) return;
    EXPECT_EQ(brk(start), 0);
    EXPECT_EQ(brk(start + bytes), 0);
    pause_ms(14);
    const size_t unused = (size_t)(-(uintptr_t)start & (page - 1));
    if (received) expect_all(start + unused, bytes - unused, 0);
    EXPECT_EQ(brk(start), 0);
  }
}

static const Case cases[] = {CASE(trimmed, 2), CASE(trimmed_by_itself, 2), CASE(by_sbrk, 2), CASE(by_brk, 2)};
SUITE(cases)
