// Pages that the kernel goes on using after a call: a pipe holds them, as a device does whose driver does not account for what it
// pins. The program and whoever holds the page must go on seeing the same.
#include <aio.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "hostile.h"

enum { bytes = 1 << 20, held_at = 5 * page, rounds = 8 };

static ssize_t by_library(int pipe_end, const struct iovec* vector) { return vmsplice(pipe_end, vector, 1, 0); }
static ssize_t by_number(int pipe_end, const struct iovec* vector) { return syscall(SYS_vmsplice, pipe_end, vector, 1, 0); }
static ssize_t as_a_gift(int pipe_end, const struct iovec* vector) { return vmsplice(pipe_end, vector, 1, SPLICE_F_GIFT); }

typedef ssize_t Splice(int, const struct iovec*);

static void receive_some(char* buffer, unsigned seed) {
  for (unsigned i = 0; i < rounds; i++) {
    if (late(buffer, bytes, seed + i)) expect_filled(buffer, bytes, seed + i);
  }
}

static void lend(int pipe_end, const char* buffer, Splice* splice) {
  const struct iovec vector = {(void*)(buffer + held_at), page};
  EXPECT_CALL(splice(pipe_end, &vector), page);
}

static void expect_same(int pipe_end, const char* buffer) {
  char held[page];
  EXPECT_CALL(read(pipe_end, held, page), page);
  EXPECT(memcmp(held, buffer + held_at, page) == 0, "the pipe holds another page");
}

static void lend_and_receive(Splice* splice, int rounds_before) {
  int ends[2];
  char* buffer = map(bytes);
  fill(buffer, bytes, 999);
  if (rounds_before) receive_some(buffer, 20);
  EXPECT_CALL(pipe(ends), 0);
  lend(ends[1], buffer, splice);
  receive_some(buffer, 40);
  expect_same(ends[0], buffer);
  close(ends[0]);
  close(ends[1]);
  munmap(buffer, bytes);
}

static void lent_before(void) { lend_and_receive(by_library, 0); }
static void lent_before_by_number(void) { lend_and_receive(by_number, 0); }
static void given_before(void) { lend_and_receive(as_a_gift, 0); }
static void lent_when_it_is_a_block(void) { lend_and_receive(by_library, 1); }

// Memory that was unmapped since is nobody's.
static void new_memory_at_the_address(void) {
  int ends[2];
  char* buffer = map(bytes);
  EXPECT_CALL(pipe(ends), 0);
  fill(buffer, bytes, 1);
  lend(ends[1], buffer, by_library);
  munmap(buffer, bytes);
  char* again = mmap(buffer, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  receive_some(again, 60);
  close(ends[0]);
  close(ends[1]);
  munmap(again, bytes);
}

// Read asynchronously into a part of a page of which the rest is a receive buffer.
static void read_beside_receives(void) {
  char* memory = map(bytes + page);
  const int file = filled_file(1000, 7);
  for (unsigned i = 0; i < rounds; i++) {
    struct aiocb control = {.aio_fildes = file, .aio_buf = memory, .aio_nbytes = 1000};
    EXPECT_CALL(aio_read(&control), 0);
    if (late(memory + 1000, bytes, i)) expect_filled(memory + 1000, bytes, i);
    const struct aiocb* const list[] = {&control};
    while (aio_error(&control) == EINPROGRESS) aio_suspend(list, 1, NULL);
    EXPECT_CALL(aio_return(&control), 1000);
    expect_filled(memory, 1000, 7);
    memset(memory, 0, 1000);
  }
  close(file);
  munmap(memory, bytes + page);
}

static const Case cases[] = {CASE(lent_before, 2),
                             CASE(lent_before_by_number, 2),
                             CASE(given_before, 2),
                             CASE(lent_when_it_is_a_block, 2),
                             CASE(new_memory_at_the_address, 2),
                             CASE(read_beside_receives, 2)};
SUITE(cases)
