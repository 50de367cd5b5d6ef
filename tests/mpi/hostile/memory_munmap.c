// Buffers that are unmapped, mapped over or moved right after they were received, whole or in part.
#include "hostile.h"

enum { bytes = 1 << 20, rounds = 6 };

static void whole(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    late(buffer, bytes, i);
    munmap(buffer, bytes);
    char* next = mmap(buffer, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    pause_ms(14);
    expect_all(next, bytes, 0);
    munmap(next, bytes);
  }
}

static void and_a_reservation_in_its_place(void) {
  // Reserved addresses must stay inaccessible: writing there ends in write() saying so.
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    const int received = late(buffer, bytes, i);
    munmap(buffer, bytes);
    mmap(buffer, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    pause_ms(14);
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    for (size_t at = 0; received && at < bytes; at += 50 * page) {
      EXPECT_EQ(write(ends[1], buffer + at, 1), -1);
      EXPECT_EQ(errno, EFAULT);
    }
    close(ends[0]);
    close(ends[1]);
    munmap(buffer, bytes);
  }
}

static void in_the_middle(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    const int received = late(buffer, bytes, i);
    munmap(buffer + 40 * page, 20 * page);
    if (received) {
      expect_part_filled(buffer, 0, 40 * page, i);
      expect_part_filled(buffer, 60 * page, bytes, i);
      note_bytes(buffer, 40 * page);
    }
    munmap(buffer, bytes);
  }
}

static void mapped_over(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    const int received = late(buffer, bytes, i);
    mmap(buffer + 40 * page, 20 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    pause_ms(14);
    if (received) {
      expect_all(buffer + 40 * page, 20 * page, 0);
      expect_part_filled(buffer, 0, 40 * page, i);
      expect_part_filled(buffer, 60 * page, bytes, i);
    }
    if (late(buffer, bytes, i + 20)) expect_filled(buffer, bytes, i + 20);
    munmap(buffer, bytes);
  }
}

static void mapped_over_by_a_file(void) {
  const int file = filled_file(bytes, 5);
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    late(buffer, bytes, i);
    mmap(buffer, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    pause_ms(14);
    expect_filled(buffer, bytes, 5);
    munmap(buffer, bytes);
  }
  expect_file(file, bytes, 5);
  close(file);
}

static void moved_away(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    const int received = late(buffer, bytes, i);
    char* moved = mremap(buffer, bytes, 3 * bytes, MREMAP_MAYMOVE);
    EXPECT(moved != MAP_FAILED, "mremap: %s", strerror(errno));
    if (received) expect_filled(moved, bytes, i);
    expect_all(moved + bytes, 2 * bytes, 0);
    if (late(moved, 3 * bytes, i + 9)) expect_filled(moved, 3 * bytes, i + 9);
    munmap(moved, 3 * bytes);
  }
}

static void moved_over(void) {
  // The buffer is the target of the move.
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    char* other = map(bytes);
    fill(other, bytes, 77);
    late(buffer, bytes, i);
    EXPECT(mremap(other, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, buffer) == buffer, "mremap: %s", strerror(errno));
    pause_ms(14);
    expect_filled(buffer, bytes, 77);
    if (late(buffer, bytes, i + 9)) expect_filled(buffer, bytes, i + 9);
    munmap(buffer, bytes);
  }
}

static const Case cases[] = {CASE(whole, 2),       CASE(and_a_reservation_in_its_place, 2), CASE(in_the_middle, 2),
                             CASE(mapped_over, 2), CASE(mapped_over_by_a_file, 2),          CASE(moved_away, 2),
                             CASE(moved_over, 2)};
SUITE(cases)
