// Windows of every kind that Sluice may carry, and those that it leaves to the host: cases run with each.
#pragma once

#include "suite.h"

typedef enum { allocated, created } Kind;
// Open MPI 4.1 gets some cases wrong, which run with those that Sluice carries: of several ranks, and the first so many kinds.
enum { kinds = 2, carried_kinds = 2 };

typedef struct {
  MPI_Win win;
  char* base;
  size_t bytes;
  Kind kind;
} Exposed;

// All bytes are 0. Each rank may have another length and another unit.
UNUSED_OK static Exposed expose_on(Kind kind, size_t bytes, int unit, MPI_Comm comm) {
  Exposed made = {MPI_WIN_NULL, NULL, bytes, kind};
  if (kind == allocated) {
    MPI_Win_allocate((MPI_Aint)bytes, unit, MPI_INFO_NULL, comm, &made.base, &made.win);
  } else {
    made.base = allocate(bytes);
    MPI_Win_create(made.base, (MPI_Aint)bytes, unit, MPI_INFO_NULL, comm, &made.win);
  }
  memset(made.base, 0, bytes);
  MPI_Barrier(comm);
  return made;
}

UNUSED_OK static Exposed expose(Kind kind, size_t bytes, int unit) { return expose_on(kind, bytes, unit, WORLD); }

UNUSED_OK static void conceal(Exposed* made) {
  MPI_Win_free(&made->win);
  EXPECT(made->win == MPI_WIN_NULL, "the handle is still there");
  if (made->kind == created) free(made->base);
}

static inline int first_kinds(void) { return size > 1 ? carried_kinds : 0; }

static inline int right(void) { return (rank + 1) % size; }
static inline int left(void) { return (rank + size - 1) % size; }
