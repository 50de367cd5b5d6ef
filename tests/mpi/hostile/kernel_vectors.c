// Vectored calls: pieces of a buffer that was received a moment ago, among others that are whole.
#include <poll.h>
#include <sys/uio.h>

#include "hostile.h"

enum { head = 5000, tail = 7000 };

static char* buffer;
static char whole[head];
static struct iovec vectors[3];

static void describe(void) {
  vectors[0] = (struct iovec){buffer, head};
  vectors[1] = (struct iovec){whole, sizeof whole};
  vectors[2] = (struct iovec){buffer + large - tail, tail};
}

enum { all = head + (int)sizeof whole + tail };

static void expect_vectors_in(int file, unsigned seed) {
  char* got = allocate(all);
  EXPECT_EQ(pread(file, got, all, 0), all);
  expect_filled(got, head, seed);
  expect_filled(got + head, sizeof whole, 99);
  EXPECT_EQ(memcmp(got + head + sizeof whole, buffer + large - tail, tail), 0);
  note_bytes(got, all);
  free(got);
}

#define WRITES(name, call)                   \
  static void name(void) {                   \
    buffer = map(large);                     \
    fill(whole, sizeof whole, 99);           \
    for (unsigned i = 1; i <= 2; i++) {      \
      if (!late(buffer, large, i)) continue; \
      describe();                            \
      const int file = filled_file(0, 0);    \
      EXPECT_CALL(call, all);                \
      expect_vectors_in(file, i);            \
      close(file);                           \
    }                                        \
    munmap(buffer, large);                   \
  }

#define READS(name, call)                                \
  static void name(void) {                               \
    buffer = map(large);                                 \
    for (unsigned i = 1; i <= 2; i++) {                  \
      if (!late(buffer, large, i)) continue;             \
      describe();                                        \
      const int file = filled_file(all, 50 + i);         \
      EXPECT_CALL(call, all);                            \
      expect_filled(buffer, head, 50 + i);               \
      expect_part_filled(buffer, head, large - tail, i); \
      note_bytes(buffer, large);                         \
      close(file);                                       \
    }                                                    \
    munmap(buffer, large);                               \
  }

WRITES(by_writev, writev(file, vectors, 3))
WRITES(by_pwritev, pwritev(file, vectors, 3, 0))
WRITES(by_pwritev64, pwritev64(file, vectors, 3, 0))
WRITES(by_pwritev2, pwritev2(file, vectors, 3, 0, 0))
WRITES(by_pwritev64v2, pwritev64v2(file, vectors, 3, 0, 0))
READS(by_readv, readv(file, vectors, 3))
READS(by_preadv, preadv(file, vectors, 3, 0))
READS(by_preadv64, preadv64(file, vectors, 3, 0))
READS(by_preadv2, preadv2(file, vectors, 3, 0, 0))
READS(by_preadv64v2, preadv64v2(file, vectors, 3, 0, 0))

static void spliced_into_a_pipe(void) {
  buffer = map(large);
  if (late(buffer, large, 6)) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    struct iovec vector = {buffer, 8000};
    EXPECT_CALL(vmsplice(ends[1], &vector, 1, 0), 8000);
    char got[8000];
    EXPECT_EQ(read(ends[0], got, sizeof got), sizeof got);
    expect_filled(got, sizeof got, 6);
    close(ends[0]);
    close(ends[1]);
  }
  munmap(buffer, large);
}

static void between_processes(void) {
  buffer = map(large);
  char* other = map(large);
  fill(other, large, 7);
  struct iovec mine = {buffer, large}, theirs = {other, large};
  if (late(buffer, large, 6)) {
    EXPECT_CALL(process_vm_writev(getpid(), &mine, 1, &theirs, 1, 0), large);
    expect_filled(other, large, 6);
  }
  fill(other, large, 7);
  if (late(buffer, large, 6)) {
    EXPECT_CALL(process_vm_readv(getpid(), &mine, 1, &theirs, 1, 0), large);
    expect_filled(buffer, large, 7);
  }
  munmap(buffer, large);
  munmap(other, large);
}

static void the_vectors_themselves_share_a_page(void) {
  Neighbours n = map_neighbours();
  struct iovec* near = (struct iovec*)n.before;
  static char text[] = "text";
  near[0] = (struct iovec){text, 4};
  if (late(n.buffer, large, 6)) {
    const int file = filled_file(0, 0);
    EXPECT_CALL(writev(file, near, 1), 4);
    expect_filled(n.buffer, large, 6);
    close(file);
  }
  unmap_neighbours(n);
}

static const Case cases[] = {CASE(by_writev, 2),
                             CASE(by_pwritev, 2),
                             CASE(by_pwritev64, 2),
                             CASE(by_pwritev2, 2),
                             CASE(by_pwritev64v2, 2),
                             CASE(by_readv, 2),
                             CASE(by_preadv, 2),
                             CASE(by_preadv64, 2),
                             CASE(by_preadv2, 2),
                             CASE(by_preadv64v2, 2),
                             CASE(spliced_into_a_pipe, 2),
                             CASE(between_processes, 2),
                             CASE(the_vectors_themselves_share_a_page, 2)};
SUITE(cases)
