// Buffers that are resized right after they were received.
#include "hostile.h"

static void resized(size_t from, size_t to) {
  for (unsigned i = 0; i < 4; i++) {
    char* buffer = allocate(from);
    char* behind = allocate(from);  // the next pages of the heap, or of the address space
    memset(behind, 9, from);
    const int received = late(buffer, (int)from, i);
    buffer = realloc(buffer, to);
    if (received) expect_filled(buffer, from < to ? from : to, i);
    if (to > from) memset(buffer + from, 5, to - from);
    const int again = late(buffer, (int)to, i + 30);
    expect_all(behind, from, 9);
    if (again) {
      expect_filled(buffer, to, i + 30);
      note_bytes(buffer, to);
    }
    free(buffer);
    free(behind);
  }
}

static void heap_grown(void) { resized(100000, 120000); }
static void heap_shrunk(void) { resized(120000, 60000); }
static void mapping_grown(void) { resized(large, 5 * large); }
static void mapping_shrunk(void) { resized(4 * large, large); }
static void heap_to_mapping(void) { resized(100000, 4 * MB); }
static void mapping_to_heap(void) { resized(4 * MB, 50000); }

static void grown_step_by_step(void) {
  char* buffer = allocate(page);
  size_t bytes = page;
  for (unsigned i = 0; i < 8; i++) {
    buffer = realloc(buffer, 2 * bytes);
    if (late(buffer + bytes, (int)bytes, i)) {
      buffer = realloc(buffer, 2 * bytes + page);
      expect_filled(buffer + bytes, bytes, i);
    } else {
      buffer = realloc(buffer, 2 * bytes + page);
    }
    bytes *= 2;
  }
  free(buffer);
}

static const Case cases[] = {CASE(heap_grown, 2),        CASE(heap_shrunk, 2),     CASE(mapping_grown, 2),
                             CASE(mapping_shrunk, 2),    CASE(heap_to_mapping, 2), CASE(mapping_to_heap, 2),
                             CASE(grown_step_by_step, 2)};
SUITE(cases)
