// Late senders, and receivers that touch the buffer at once, later, in part, from another thread, or not at all.
#include <pthread.h>

#include "late.h"

static void touched_at_once(void) {
  char* buffer = allocate(large);
  if (late_message(buffer, large, 1)) expect_filled(buffer, large, 1);
  free(buffer);
}

static void touched_after_it_came(void) {
  char* buffer = allocate(large);
  if (late_message(buffer, large, 2)) {
    pause_ms(8);
    expect_filled(buffer, large, 2);
  }
  free(buffer);
}

static void never_touched(void) {
  char* buffer = allocate(large);
  late_message(buffer, large, 3);
  free(buffer);
}

static void last_byte_first(void) {
  char* buffer = allocate(large);
  if (late_message(buffer, large, 4)) {
    expect_part_filled(buffer, large - 1, large, 4);
    expect_filled(buffer, large, 4);
  }
  free(buffer);
}

static void backwards_in_strides(void) {
  char* buffer = allocate(large);
  if (late_message(buffer, large, 5)) {
    for (size_t at = large - 1; at > 5000; at -= 4999) expect_part_filled(buffer, at, at + 1, 5);
  }
  free(buffer);
}

static void some_pages_only(void) {
  char* buffer = allocate(large);
  if (late_message(buffer, large, 6)) {
    expect_part_filled(buffer, 300000, 310000, 6);
    expect_part_filled(buffer, 100, 200, 6);
  }
  free(buffer);
}

// What the program writes after the receive returned must not be overwritten by bytes that arrive later.
static void written_at_once(void) {
  char* buffer = allocate(large);
  if (late_message(buffer, large, 7)) {
    memset(buffer, 0x6b, large);
    pause_ms(8);
    expect_all(buffer, large, 0x6b);
  }
  free(buffer);
}

static void written_in_part_at_once(void) {
  char* buffer = allocate(large);
  if (late_message(buffer, large, 8)) {
    memset(buffer + 200000, 0x6c, 50000);
    pause_ms(8);
    expect_part_filled(buffer, 0, 200000, 8);
    expect_all(buffer + 200000, 50000, 0x6c);
    expect_part_filled(buffer, 250000, large, 8);
  }
  free(buffer);
}

static void copied_by_the_library(void) {  // memcpy, memmove, memcmp, memchr
  char *buffer = allocate(large), *copy = allocate(large);
  if (late_message(buffer, large, 9)) {
    memcpy(copy, buffer, large);
    expect_filled(copy, large, 9);
  }
  if (late_message(buffer, large, 10)) {
    memmove(buffer + 8, buffer, large - 8);
    memcpy(copy, buffer + 8, large - 8);
    expect_filled(copy, large - 8, 10);
  }
  if (late_message(buffer, large, 11)) {
    fill(copy, large, 11);
    EXPECT(memcmp(buffer, copy, large) == 0, "memcmp says that the message differs");
  }
  free(copy);
  free(buffer);
}

static void sizes_from_64k_to_16m(void) {
  char* buffer = allocate(16 * MB);
  for (int bytes = 64 * KB; bytes <= 16 * MB; bytes *= 4) {
    if (late_message(buffer, bytes, 12)) expect_filled(buffer, (size_t)bytes, 12);
    if (late_message(buffer + 1, bytes - 1, 13)) expect_filled(buffer + 1, (size_t)bytes - 1, 13);
  }
  free(buffer);
}

static void odd_sizes_and_addresses(void) {
  char* buffer = allocate(2 * large);
  for (unsigned i = 0; i < 20; i++) {
    const int bytes = 70001 + 4097 * (int)i;
    char* at = buffer + 333 * i + 1;
    memset(buffer, 0x19, 2 * large);
    if (late_message(at, bytes, i)) {
      expect_filled(at, (size_t)bytes, i);
      expect_all(buffer, (size_t)(at - buffer), 0x19);
      expect_all(at + bytes, 5000, 0x19);
    }
  }
  free(buffer);
}

// One call site and one buffer, used often enough for every policy to have an opinion.
static void many_rounds_touched_at_once(void) {
  char* buffer = allocate(large);
  for (unsigned i = 0; i < 30; i++) {
    if (late_message(buffer, large, i)) expect_filled(buffer, large, i);
  }
  free(buffer);
}

static void many_rounds_computing_before_the_touch(void) {
  char* buffer = allocate(large);
  for (unsigned i = 0; i < 20; i++) {
    if (late_message(buffer, large, i)) {
      pause_ms(i % 5);
      expect_filled(buffer, large, i);
    }
  }
  free(buffer);
}

static void many_rounds_never_touched(void) {
  char* buffer = allocate(large);
  for (unsigned i = 0; i < 20; i++) late_message(buffer, large, i);
  if (rank == 1) expect_filled(buffer, large, 19);
  free(buffer);
}

static void two_buffers_in_turn(void) {
  char* buffers[] = {allocate(large), allocate(large)};
  for (unsigned i = 0; i < 16; i++) {
    const int received = late_message(buffers[i % 2], large, i);
    if (received && i > 0) expect_filled(buffers[(i - 1) % 2], large, i - 1);  // the one before
  }
  free(buffers[0]);
  free(buffers[1]);
}

static void* check_in_thread(void* buffer) {
  expect_filled(buffer, large, 14);
  return NULL;
}

static void touched_by_another_thread(void) {
  char* buffer = allocate(large);
  if (late_message(buffer, large, 14)) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, check_in_thread, buffer);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  }
  free(buffer);
}

// The thread waits on the page while the main thread goes on with MPI.
static void touched_by_another_thread_while_messages_go_on(void) {
  char* buffer = allocate(large);
  pthread_t thread;
  int value = 0;
  if (late_message(buffer, large, 14)) {
    pthread_create(&thread, NULL, check_in_thread, buffer);
    for (int i = 0; i < 20; i++) {
      MPI_Recv(&value, 1, MPI_INT, 0, 2, WORLD, IGNORE);
      EXPECT_EQ(value, i);
      MPI_Send(&value, 1, MPI_INT, 0, 3, WORLD);
    }
    pthread_join(thread, NULL);
  } else if (rank == 0) {
    for (int i = 0; i < 20; i++) {
      MPI_Send(&i, 1, MPI_INT, 1, 2, WORLD);
      MPI_Recv(&value, 1, MPI_INT, 1, 3, WORLD, IGNORE);
      EXPECT_EQ(value, i);
    }
  }
  free(buffer);
}

static void every_rank_is_late_for_somebody(void) {
  char *out = allocate(large), *in = allocate(large);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (unsigned i = 0; i < 10; i++) {
    MPI_Request request;
    fill(out, large, (unsigned)rank + 100 * i);
    if (rank % 2 == i % 2) be_late();
    MPI_Isend(out, large, MPI_BYTE, next, 4, WORLD, &request);
    MPI_Recv(in, large, MPI_BYTE, previous, 4, WORLD, IGNORE);
    if (i % 2) expect_filled(in, large, (unsigned)previous + 100 * i);
    MPI_Wait(&request, IGNORE);
    expect_filled(in, large, (unsigned)previous + 100 * i);
  }
  free(in);
  free(out);
}

static const Case cases[] = {CASE(touched_at_once, 2),
                             CASE(touched_after_it_came, 2),
                             CASE(never_touched, 2),
                             CASE(last_byte_first, 2),
                             CASE(backwards_in_strides, 2),
                             CASE(some_pages_only, 2),
                             CASE(written_at_once, 2),
                             CASE(written_in_part_at_once, 2),
                             CASE(copied_by_the_library, 2),
                             CASE(sizes_from_64k_to_16m, 2),
                             CASE(odd_sizes_and_addresses, 2),
                             CASE(many_rounds_touched_at_once, 2),
                             CASE(many_rounds_computing_before_the_touch, 2),
                             CASE(many_rounds_never_touched, 2),
                             CASE(two_buffers_in_turn, 2),
                             CASE(touched_by_another_thread, 2),
                             CASE(touched_by_another_thread_while_messages_go_on, 2),
                             CASE(every_rank_is_late_for_somebody, 2)};
SUITE(cases)
