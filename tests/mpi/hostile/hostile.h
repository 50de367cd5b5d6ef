// Pairs of ranks, of which one sends late and the other receives: what it received is incomplete when MPI_Recv returns to it.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "suite.h"

enum { large = 600000, page = 4096 };

// Long enough for a receive into new memory to be released where four ranks share two processors.
UNUSED_OK static void late_by(void) { pause_ms(10); }

UNUSED_OK static int partner(void) { return rank ^ 1; }

// A rank alone, which sends to itself.
UNUSED_OK static int to_self(void* buffer, int bytes, unsigned seed) {
  MPI_Request request;
  char* sent = allocate((size_t)bytes);
  fill(sent, (size_t)bytes, seed);
  MPI_Isend(sent, bytes, MPI_BYTE, 0, 1, WORLD, &request);
  MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, WORLD, IGNORE);
  MPI_Wait(&request, IGNORE);
  free(sent);
  return 1;
}

// The lower rank of each pair sends `bytes` bytes of pattern `seed` late; `true` on the one that received them.
UNUSED_OK static int late(void* buffer, int bytes, unsigned seed) {
  if (size == 1) return to_self(buffer, bytes, seed);
  if (partner() >= size) return 0;
  if (rank % 2 != 0) return MPI_Recv(buffer, bytes, MPI_BYTE, partner(), 1, WORLD, IGNORE) == MPI_SUCCESS;
  char* sent = allocate((size_t)bytes);
  fill(sent, (size_t)bytes, seed);
  late_by();
  MPI_Send(sent, bytes, MPI_BYTE, partner(), 1, WORLD);
  free(sent);
  return 0;
}

UNUSED_OK static char* map(size_t bytes) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) MPI_Abort(WORLD, 5);
  return memory;
}

// Memory for one message, the first and last page of which have room for something else.
typedef struct {
  char* before;  // `margin` bytes
  char* buffer;  // `large` bytes
  char* after;   // `margin` bytes
} Neighbours;

enum { margin = 1024, neighbours_bytes = (large / page + 3) * page };

UNUSED_OK static Neighbours map_neighbours(void) {
  char* memory = map(neighbours_bytes);
  return (Neighbours){memory, memory + margin, memory + margin + large};
}

UNUSED_OK static void unmap_neighbours(Neighbours all) { munmap(all.before, neighbours_bytes); }

// An unlinked file with `bytes` bytes of pattern `seed`.
UNUSED_OK static int filled_file(size_t bytes, unsigned seed) {
  char name[] = "/tmp/mpi-hostile-XXXXXX";
  const int file = mkstemp(name);
  if (file < 0) MPI_Abort(WORLD, 6);
  unlink(name);
  char* content = allocate(bytes);
  fill(content, bytes, seed);
  if (bytes != 0 && pwrite(file, content, bytes, 0) != (ssize_t)bytes) MPI_Abort(WORLD, 7);
  free(content);
  return file;
}

// The file starts with pattern `seed`.
UNUSED_OK static void expect_file(int file, size_t bytes, unsigned seed) {
  char* content = allocate(bytes);
  memset(content, 0, bytes);
  EXPECT_EQ(pread(file, content, bytes, 0), bytes);
  expect_filled(content, bytes, seed);
  note_bytes(content, bytes);
  free(content);
}

// A call on memory that was received a moment ago: one that the kernel refuses fails here, with its reason.
#define EXPECT_CALL(call, wanted)                                                                                                \
  do {                                                                                                                           \
    errno = 0;                                                                                                                   \
    const long long result_ = (long long)(call);                                                                                 \
    EXPECT(result_ == (long long)(wanted), "%s is %lld and not %lld: %s", #call, result_, (long long)(wanted), strerror(errno)); \
  } while (0)
