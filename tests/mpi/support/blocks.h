// What programs of collectives with a block for each rank share: elements that say where they came from, and both forms of a
// call.
#pragma once

#include "late.h"

enum { untouched = -77 };

// The k-th element of what `from` gives to `to`; of what it gives to all, `to` is 0.
UNUSED_OK static int element(int from, int to, int k) { return from * 100003 + to * 1009 + k % 1000; }

UNUSED_OK static int* filled(size_t elements, int value) {
  int* memory = allocate((elements + 1) * sizeof *memory);
  for (size_t i = 0; i <= elements; i++) memory[i] = value;
  return memory;
}

UNUSED_OK static void expect_block(const int* block, int count, int from, int to) {
  for (int k = 0; k < count; k++) {
    if (block[k] == element(from, to, k)) continue;
    EXPECT(0, "element %d of %d from %d to %d is %d and not %d", k, count, from, to, block[k], element(from, to, k));
    return;
  }
}

UNUSED_OK static void expect_untouched(const int* block, int count) {
  for (int k = 0; k < count; k++) {
    if (block[k] == untouched) continue;
    EXPECT(0, "element %d of a gap of %d is %d", k, count, block[k]);
    return;
  }
}

// The two forms of a call.
#define CALL(nonblocking, X, I, ...)                                  \
  do {                                                                \
    MPI_Request request_ = MPI_REQUEST_NULL;                          \
    if (nonblocking) {                                                \
      EXPECT_EQ(MPI_##I(__VA_ARGS__, &request_), MPI_SUCCESS);        \
      EXPECT_EQ(MPI_Wait(&request_, MPI_STATUS_IGNORE), MPI_SUCCESS); \
    } else {                                                          \
      EXPECT_EQ(MPI_##X(__VA_ARGS__), MPI_SUCCESS);                   \
    }                                                                 \
  } while (0)

// What is not significant on a rank may be anything.
#define GARBAGE ((void*)8)
