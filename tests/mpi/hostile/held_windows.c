// Memory that peers reach through the host: its pages are not replaced under their hands. Windows lie between, beside and below
// buffers of messages that come often enough to earn alias blocks; a third rank puts and gets meanwhile.
#include "hostile.h"

enum { buffers = 12, gap = 1536, rounds = 9, unit = 400 * KB + 512 + gap, buffer_bytes = unit - gap };

static int puts_until(MPI_Request* stop, MPI_Win window, int* lost) {
  unsigned pattern[gap / sizeof(unsigned)], back[gap / sizeof(unsigned)];
  int sweeps = 0;
  for (int done = 0; !done; MPI_Test(stop, &done, IGNORE)) {
    sweeps++;
    for (int i = 0; i < buffers; i++) {
      for (size_t k = 0; k < sizeof pattern / sizeof *pattern; k++) pattern[k] = (unsigned)sweeps;
      const MPI_Aint at = (MPI_Aint)i * unit + buffer_bytes;
      MPI_Put(pattern, gap, MPI_BYTE, 1, at, gap, MPI_BYTE, window);
      MPI_Win_flush(1, window);
      MPI_Get(back, gap, MPI_BYTE, 1, at, gap, MPI_BYTE, window);
      MPI_Win_flush(1, window);
      *lost += memcmp(back, pattern, gap) != 0;
    }
  }
  return sweeps;
}

static void send_all(void) {
  char* out = allocate(buffer_bytes);
  for (unsigned k = 0; k < rounds; k++) {
    for (unsigned i = 0; i < buffers; i++) {
      fill(out, buffer_bytes, k * buffers + i);
      MPI_Ssend(out, buffer_bytes, MPI_BYTE, 1, (int)i, WORLD);
    }
  }
  free(out);
}

static void receive_all(char* memory) {
  for (unsigned k = 0; k < rounds; k++) {
    for (unsigned i = 0; i < buffers; i++) {
      char* buffer = memory + (size_t)i * unit;
      MPI_Recv(buffer, buffer_bytes, MPI_BYTE, 2, (int)i, WORLD, IGNORE);
      expect_filled(buffer, buffer_bytes, k * buffers + i);
    }
  }
}

// Rank 0 puts into the gaps of rank 1's memory, rank 2 sends to the buffers between them.
static void exchange(char* memory, MPI_Win window) {
  if (rank == 0) {
    int stop, lost = 0;
    MPI_Request request;
    MPI_Irecv(&stop, 1, MPI_INT, 1, 99, WORLD, &request);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    const int sweeps = puts_until(&request, window, &lost);
    MPI_Win_unlock(1, window);
    EXPECT_EQ(lost, 0);
    MPI_Send(&sweeps, 1, MPI_INT, 1, 98, WORLD);
  } else if (rank == 1) {
    int sweeps = 0;
    receive_all(memory);
    MPI_Send(&sweeps, 1, MPI_INT, 0, 99, WORLD);
    MPI_Recv(&sweeps, 1, MPI_INT, 0, 98, WORLD, IGNORE);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    MPI_Win_sync(window);
    MPI_Win_unlock(1, window);
    for (int i = 0; i < buffers; i++) {
      unsigned found;
      memcpy(&found, memory + (size_t)i * unit + buffer_bytes + gap - sizeof found, sizeof found);
      EXPECT_EQ(found, sweeps);
    }
  } else if (rank == 2) {
    send_all();
  }
}

static void puts_between_buffers(void) {
  char* memory = map((size_t)buffers * unit);
  memset(memory, 0, (size_t)buffers * unit);
  MPI_Win window;
  MPI_Win_create(memory, rank == 1 ? (MPI_Aint)buffers * unit : 0, 1, MPI_INFO_NULL, WORLD, &window);
  exchange(memory, window);
  MPI_Win_free(&window);
  munmap(memory, (size_t)buffers * unit);
}

// The buffers are blocks when the window is made over them.
static void puts_into_blocks(void) {
  char* memory = map((size_t)buffers * unit);
  memset(memory, 0, (size_t)buffers * unit);
  if (rank == 1) receive_all(memory);
  if (rank == 2) send_all();
  MPI_Win window;
  MPI_Win_create(memory, rank == 1 ? (MPI_Aint)buffers * unit : 0, 1, MPI_INFO_NULL, WORLD, &window);
  exchange(memory, window);
  MPI_Win_free(&window);
  munmap(memory, (size_t)buffers * unit);
}

// The neighbour of a receive buffer, on the same page, is received into by a collective of the host's at the same time.
static void collective_beside_receives(void) {
  enum { bytes = 500000 };
  char* memory = map(2 * bytes + page);
  char* out = allocate(bytes);
  for (unsigned i = 0; i < rounds; i++) {
    MPI_Request requests[3];
    fill(out, bytes, i);
    MPI_Irecv(memory + 100, bytes, MPI_BYTE, (rank + size - 1) % size, 1, WORLD, &requests[0]);
    if (rank == 0) fill(memory + 100 + bytes, bytes, 1000 + i);
    MPI_Ibcast(memory + 100 + bytes, bytes, MPI_BYTE, 0, WORLD, &requests[1]);
    MPI_Isend(out, bytes, MPI_BYTE, (rank + 1) % size, 1, WORLD, &requests[2]);
    if (i % 2 == 0) MPI_Barrier(WORLD);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    expect_filled(memory + 100, bytes, i);
    expect_filled(memory + 100 + bytes, bytes, 1000 + i);
  }
  free(out);
  munmap(memory, 2 * bytes + page);
}

static const Case cases[] = {CASE(puts_between_buffers, 3), CASE(puts_into_blocks, 3), CASE(collective_beside_receives, 2)};
SUITE(cases)
