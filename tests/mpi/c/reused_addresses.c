// Small send buffers that are used often, end, and come back at the same address with other contents: as allocations, mappings,
// parts of the break and of what realloc moves. What arrives is what was there when the send began.
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"

enum { uses = 60, lives = 6, bytes = 6000, page = 4096, mapped = 2 * page };

// Each life of a buffer has other contents, which each use changes in one place.
static void send_often(char* buffer, int length, int life) {
  for (int use = 0; use < uses; use++) {
    MPI_Request request;
    fill(buffer, (size_t)length, (unsigned)(life * uses));
    buffer[use % length] = (char)use;
    if (use % 3 == 0) {
      MPI_Send(buffer, length, MPI_CHAR, rank + 1, 0, WORLD);
    } else {
      MPI_Isend(buffer, length, MPI_CHAR, rank + 1, 0, WORLD, &request);
      MPI_Wait(&request, IGNORE);
    }
  }
}

static void receive_often(int length, int life) {
  char* got = allocate((size_t)length);
  char* wanted = allocate((size_t)length);
  for (int use = 0; use < uses; use++) {
    memset(got, 0, (size_t)length);
    MPI_Recv(got, length, MPI_CHAR, rank - 1, 0, WORLD, IGNORE);
    fill(wanted, (size_t)length, (unsigned)(life * uses));
    wanted[use % length] = (char)use;
    EXPECT(memcmp(got, wanted, (size_t)length) == 0, "life %d, use %d: other data", life, use);
  }
  free(got);
  free(wanted);
}

static int sends(void) { return rank % 2 == 0 && rank + 1 < size; }
static int receives(void) { return rank % 2 == 1; }

static void allocated(void) {
  for (int life = 0; life < lives; life++) {
    if (receives()) receive_often(bytes, life);
    if (!sends()) continue;
    char* buffer = allocate(bytes);
    send_often(buffer, bytes, life);
    free(buffer);
  }
}

// Of 200 KB, which an allocator maps and unmaps.
static void mapped_by_the_allocator(void) {
  for (int life = 0; life < lives; life++) {
    if (receives()) receive_often(bytes, life);
    if (!sends()) continue;
    char* buffer = allocate(200000);
    send_often(buffer + 9 * page, bytes, life);
    free(buffer);
  }
}

static void resized(void) {
  char* buffer = NULL;
  for (int life = 0; life < lives; life++) {
    if (receives()) receive_often(bytes, life);
    if (!sends()) continue;
    buffer = realloc(buffer, life % 2 ? 300000 : bytes);
    if (!buffer) MPI_Abort(WORLD, 3);
    send_often(buffer, bytes, life);
  }
  free(buffer);
}

static void mapped_in_place(void) {
  char* place = NULL;
  for (int life = 0; life < lives; life++) {
    if (receives()) receive_often(bytes, life);
    if (!sends()) continue;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0);
    char* buffer = mmap(place, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (buffer == MAP_FAILED) MPI_Abort(WORLD, 4);
    send_often(buffer, bytes, life);
    if (life % 2) munmap(buffer, mapped);
    place = buffer;
  }
  if (place && lives % 2) munmap(place, mapped);
}

static void moved(void) {
  char* buffer = MAP_FAILED;
  for (int life = 0; life < lives; life++) {
    if (receives()) receive_often(bytes, life);
    if (!sends()) continue;
    char* other = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer != MAP_FAILED) other = mremap(other, mapped, mapped, MREMAP_MAYMOVE | MREMAP_FIXED, buffer);
    if (other == MAP_FAILED) MPI_Abort(WORLD, 5);
    buffer = other;
    send_often(buffer, bytes, life);
  }
  if (buffer != MAP_FAILED) munmap(buffer, mapped);
}

static void of_the_break(void) {
  for (int life = 0; life < lives; life++) {
    if (receives()) receive_often(bytes, life);
    if (!sends()) continue;
    char* buffer = sbrk(mapped);
    if (buffer == (char*)-1) MPI_Abort(WORLD, 6);
    send_often(buffer, bytes, life);
    if (sbrk(0) == buffer + mapped) sbrk(-mapped);  // nobody has taken more meanwhile
  }
}

// Two that share a page: the end of one is not the other's.
static void neighbours(void) {
  enum { half = 1500 };
  char* first = sends() ? allocate(half) : NULL;
  for (int life = 0; life < lives; life++) {
    if (receives()) {
      receive_often(half, life);
      receive_often(half, life + lives);
    }
    if (!sends()) continue;
    char* second = allocate(half);
    send_often(first, half, life);
    send_often(second, half, life + lives);
    free(second);
  }
  free(first);
}

static const Case cases[] = {
    CASE(allocated, 2),  CASE(mapped_by_the_allocator, 2),
    CASE(resized, 2),    CASE(mapped_in_place, 2),
    CASE(moved, 2),      CASE(of_the_break, 2),
    CASE(neighbours, 2),
};
SUITE(cases)
