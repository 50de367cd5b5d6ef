// Threads that wait in the kernel with their descriptions on the heap, and input from pipes, while messages are received next to
// them.
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "hostile.h"

static Neighbours n;
static int ends[2];

static void begin(void) {
  n = map_neighbours();
  EXPECT_EQ(pipe(ends), 0);
}

static void end(void) {
  close(ends[0]);
  close(ends[1]);
  unmap_neighbours(n);
}

#define READY(name, prepare, call, wanted) \
  static void name(void) {                 \
    begin();                               \
    EXPECT_EQ(write(ends[1], "x", 1), 1);  \
    prepare;                               \
    if (late(n.buffer, large, 3)) {        \
      EXPECT_CALL(call, wanted);           \
      expect_filled(n.buffer, large, 3);   \
    }                                      \
    end();                                 \
  }

#define FILES ((struct pollfd*)n.before)
#define SET ((fd_set*)n.before)
#define EVENT ((struct epoll_event*)n.before)

static int epoll;

static void add_to_epoll(void) {
  epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
}

READY(by_poll, (FILES[0] = (struct pollfd){ends[0], POLLIN, 0}), poll(FILES, 1, -1), 1)
READY(by_select, memset(SET, 0, sizeof *SET); FD_SET(ends[0], SET), select(ends[0] + 1, SET, NULL, NULL, NULL), 1)
READY(by_epoll_wait, add_to_epoll(), epoll_wait(epoll, EVENT, 1, -1), 1)
READY(by_nanosleep, (*(struct timespec*)n.before = (struct timespec){0, 1000}), nanosleep((struct timespec*)n.before, NULL), 0)

// Threads that are in the call already when the pages come under guard.
static int failed_calls;

static void* polls(void* unused) {
  if (poll(FILES, 1, -1) != 1) failed_calls++;
  return unused;
}

static void* selects(void* unused) {
  if (select(ends[0] + 1, SET, NULL, NULL, NULL) != 1) failed_calls++;
  return unused;
}

static void* waits_for_event(void* unused) {
  if (epoll_wait(epoll, EVENT, 1, -1) != 1) failed_calls++;
  return unused;
}

static void* reads(void* unused) {
  if (read(ends[0], n.before, 1) != 1) failed_calls++;
  return unused;
}

static void while_a_thread(void* (*waits)(void*)) {
  if (rank % 2 != 0) {
    failed_calls = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, waits, NULL);
    pause_ms(2);
    MPI_Recv(n.buffer, large, MPI_BYTE, partner(), 1, WORLD, IGNORE);
    EXPECT_EQ(write(ends[1], "x", 1), 1);
    expect_filled(n.buffer, large, 9);
    pthread_join(thread, NULL);
    EXPECT_EQ(failed_calls, 0);
  } else {
    if (partner() < size) {
      char* sent = allocate(large);
      fill(sent, large, 9);
      pause_ms(15);
      MPI_Send(sent, large, MPI_BYTE, partner(), 1, WORLD);
      free(sent);
    }
  }
}

static void while_a_thread_polls(void) {
  begin();
  FILES[0] = (struct pollfd){ends[0], POLLIN, 0};
  while_a_thread(polls);
  end();
}

static void while_a_thread_selects(void) {
  begin();
  FD_ZERO(SET);
  FD_SET(ends[0], SET);
  while_a_thread(selects);
  end();
}

static void while_a_thread_waits_for_an_event(void) {
  begin();
  add_to_epoll();
  while_a_thread(waits_for_event);
  close(epoll);
  end();
}

static void while_a_thread_reads(void) {
  begin();
  while_a_thread(reads);
  end();
}

static const Case cases[] = {CASE(by_poll, 2),
                             CASE(by_select, 2),
                             CASE(by_epoll_wait, 2),
                             CASE(by_nanosleep, 2),
                             CASE(while_a_thread_polls, 2),
                             CASE(while_a_thread_selects, 2),
                             CASE(while_a_thread_waits_for_an_event, 2),
                             CASE(while_a_thread_reads, 2)};
SUITE(cases)
