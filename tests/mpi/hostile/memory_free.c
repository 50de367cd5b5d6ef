// Buffers that are freed right after they were received, untouched, and memory that takes their place.
#include <pthread.h>
#include <sys/syscall.h>

#include "hostile.h"

enum { rounds = 12 };

static void large_and_allocated_again(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = allocate(large);
    late(buffer, large, i);
    free(buffer);
    char* next = allocate(large);  // often the same address
    memset(next, (int)i, large);
    pause_ms(14);
    expect_all(next, large, (int)i);
    free(next);
  }
}

static void on_the_heap_and_cut_in_pieces(void) {
  enum { bytes = 100000, pieces = 50 };
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = allocate(bytes);
    late(buffer, bytes, i);
    free(buffer);
    char* piece[pieces];
    for (int j = 0; j < pieces; j++) memset(piece[j] = allocate(1800), j, 1800);
    pause_ms(14);
    for (int j = 0; j < pieces; j++) {
      expect_all(piece[j], 1800, j);
      free(piece[j]);
    }
  }
}

static void and_zeroed_again(void) {
  for (unsigned i = 0; i < rounds; i++) {
    const size_t bytes = i % 2 ? large : 100000;
    char* buffer = allocate(bytes);
    late(buffer, (int)bytes, i);
    free(buffer);
    char* next = calloc(bytes, 1);
    pause_ms(14);
    expect_all(next, bytes, 0);
    free(next);
  }
}

static void and_sent_from_again(void) {
  // What is sent is what was stored last, wherever it lies.
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = allocate(large);
    const int received = late(buffer, large, i);
    free(buffer);
    char* next = allocate(large);
    fill(next, large, 200 + i);
    if (received) {
      MPI_Send(next, large, MPI_BYTE, partner(), 2, WORLD);
      MPI_Send(next, 100, MPI_BYTE, partner(), 3, WORLD);
    } else if (partner() < size) {
      MPI_Recv(next, large, MPI_BYTE, partner(), 2, WORLD, IGNORE);
      expect_filled(next, large, 200 + i);
      MPI_Recv(next, 100, MPI_BYTE, partner(), 3, WORLD, IGNORE);
      expect_filled(next, 100, 200 + i);
      note_bytes(next, large);
    }
    free(next);
  }
}

static void beside_a_new_receive(void) {
  // The next receive shares a page with the old one's memory but not a byte. The C library unmaps like this, inside free.
  enum { more = 30 * page, all = neighbours_bytes + more };
  for (unsigned i = 0; i < rounds; i++) {
    char* old = map(all);
    const int received = late(old, large, i);
    syscall(SYS_munmap, old, all);
    char* next = map(all);
    memset(next, 7, all);
    if (received) {
      char* buffer = next + large;  // in the middle of the page where the old buffer ended
      EXPECT(large % page != 0, "it is not in the middle of a page");
      MPI_Recv(buffer, more, MPI_BYTE, partner(), 4, WORLD, IGNORE);
      expect_filled(buffer, more, i);
      pause_ms(2);
      expect_all(next, large, 7);
    } else if (partner() < size) {
      fill(next, more, i);
      late_by();
      MPI_Send(next, more, MPI_BYTE, partner(), 4, WORLD);
    }
    munmap(next, all);
  }
}

static void beside_a_new_small_message(void) {
  enum { bytes = 500 };
  for (unsigned i = 0; i < rounds; i++) {
    char* old = map(neighbours_bytes);
    const int received = late(old, large, i);
    syscall(SYS_munmap, old, neighbours_bytes);
    char* next = map(neighbours_bytes);
    fill(next + large, bytes, 100 + i);
    memset(next + large + bytes, 3, bytes);
    if (received) {
      MPI_Sendrecv(next + large, bytes, MPI_BYTE, partner(), 5, next + large + bytes, bytes, MPI_BYTE, partner(), 6, WORLD,
                   IGNORE);
      expect_filled(next + large + bytes, bytes, 150 + i);
    } else if (partner() < size) {
      fill(next, bytes, 150 + i);
      MPI_Send(next, bytes, MPI_BYTE, partner(), 6, WORLD);
      MPI_Recv(next, bytes, MPI_BYTE, partner(), 5, WORLD, IGNORE);
      expect_filled(next, bytes, 100 + i);
    }
    munmap(next, neighbours_bytes);
  }
}

static void* frees(void* memory) {
  free(memory);
  return NULL;
}

static void by_another_thread(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = allocate(i % 2 ? large : 100000);
    late(buffer, i % 2 ? large : 100000, i);
    pthread_t thread;
    pthread_create(&thread, NULL, frees, buffer);
    char* next = allocate(large);
    memset(next, (int)i, large);
    pthread_join(thread, NULL);
    pause_ms(14);
    expect_all(next, large, (int)i);
    free(next);
  }
}

static const Case cases[] = {CASE(large_and_allocated_again, 2), CASE(on_the_heap_and_cut_in_pieces, 2),
                             CASE(and_zeroed_again, 2),          CASE(and_sent_from_again, 2),
                             CASE(beside_a_new_receive, 2),      CASE(beside_a_new_small_message, 2),
                             CASE(by_another_thread, 2)};
SUITE(cases)
