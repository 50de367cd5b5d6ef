// Advice about buffers that were received a moment ago: what is dropped stays dropped, and nothing else changes.
#include "hostile.h"

enum { bytes = 1 << 20, rounds = 5 };

static void dropped(void) {
  char* buffer = map(bytes);
  for (unsigned i = 0; i < rounds; i++) {
    const int received = late(buffer, bytes, i);
    EXPECT_EQ(madvise(buffer, bytes, MADV_DONTNEED), 0);
    pause_ms(14);
    if (received) expect_all(buffer, bytes, 0);
  }
  munmap(buffer, bytes);
}

static void dropped_in_part(void) {
  char* buffer = map(bytes);
  for (unsigned i = 0; i < rounds; i++) {
    const int received = late(buffer, bytes, i);
    EXPECT_EQ(madvise(buffer + 40 * page, 20 * page, MADV_DONTNEED), 0);
    pause_ms(14);
    if (received) {
      expect_all(buffer + 40 * page, 20 * page, 0);
      expect_part_filled(buffer, 0, 40 * page, i);
      expect_part_filled(buffer, 60 * page, bytes, i);
    }
  }
  munmap(buffer, bytes);
}

static void freed_and_written_again(void) {
  char* buffer = map(bytes);
  for (unsigned i = 0; i < rounds; i++) {
    const int received = late(buffer, bytes, i);
    EXPECT_EQ(madvise(buffer, bytes, MADV_FREE), 0);
    fill(buffer, bytes, 90);
    pause_ms(14);
    if (received) expect_filled(buffer, bytes, 90);
  }
  munmap(buffer, bytes);
}

static void harmless(void) {
  static const int advice[] = {MADV_NORMAL,   MADV_SEQUENTIAL, MADV_RANDOM, MADV_WILLNEED, MADV_NOHUGEPAGE,
                               MADV_HUGEPAGE, MADV_DODUMP,     MADV_COLD,   MADV_PAGEOUT,  23 /* MADV_POPULATE_WRITE */};
  char* buffer = map(bytes);
  for (unsigned i = 0; i < sizeof advice / sizeof *advice; i++) {
    const int received = late(buffer, bytes, i);
    if (received && madvise(buffer, bytes, advice[i]) != 0) EXPECT(errno == EINVAL, "advice %d: %s", advice[i], strerror(errno));
    if (received) expect_filled(buffer, bytes, i);
  }
  munmap(buffer, bytes);
}

static void by_posix(void) {
  char* buffer = map(bytes);
  for (int advice = POSIX_MADV_NORMAL; advice <= POSIX_MADV_DONTNEED; advice++) {
    const int received = late(buffer, bytes, (unsigned)advice);
    EXPECT_EQ(posix_madvise(buffer, bytes, advice), 0);
    if (received) expect_filled(buffer, bytes, (unsigned)advice);
  }
  munmap(buffer, bytes);
}

static const Case cases[] = {CASE(dropped, 2), CASE(dropped_in_part, 2), CASE(freed_and_written_again, 2), CASE(harmless, 2),
                             CASE(by_posix, 2)};
SUITE(cases)
