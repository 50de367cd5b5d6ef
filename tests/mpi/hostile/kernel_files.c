// Files written from, and read into, buffers that were received a moment ago.
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "hostile.h"

extern ssize_t __read_chk(int, void*, size_t, size_t);
extern ssize_t __pread_chk(int, void*, size_t, off_t, size_t);
extern ssize_t __pread64_chk(int, void*, size_t, off_t, size_t);

static char* buffer;

// `call` writes `large` bytes of the buffer to `file`.
#define WRITES(name, call)                   \
  static void name(void) {                   \
    buffer = map(large);                     \
    for (unsigned i = 1; i <= 3; i++) {      \
      if (!late(buffer, large, i)) continue; \
      const int file = filled_file(0, 0);    \
      EXPECT_CALL(call, large);              \
      expect_file(file, large, i);           \
      close(file);                           \
    }                                        \
    munmap(buffer, large);                   \
  }

// `call` reads `large` bytes of `file` into the buffer, over what was received.
#define READS(name, call)                          \
  static void name(void) {                         \
    buffer = map(large);                           \
    for (unsigned i = 1; i <= 3; i++) {            \
      if (!late(buffer, large, i)) continue;       \
      const int file = filled_file(large, 50 + i); \
      EXPECT_CALL(call, large);                    \
      expect_filled(buffer, large, 50 + i);        \
      pause_ms(1);                                 \
      expect_filled(buffer, large, 50 + i);        \
      note_bytes(buffer, large);                   \
      close(file);                                 \
    }                                              \
    munmap(buffer, large);                         \
  }

WRITES(by_write, write(file, buffer, large))
WRITES(by_pwrite, pwrite(file, buffer, large, 0))
WRITES(by_pwrite64, pwrite64(file, buffer, large, 0))
READS(by_read, read(file, buffer, large))
READS(by_pread, pread(file, buffer, large, 0))
READS(by_pread64, pread64(file, buffer, large, 0))
READS(by_checked_read, __read_chk(file, buffer, large, large))
READS(by_checked_pread, __pread_chk(file, buffer, large, 0, large))
READS(by_checked_pread64, __pread64_chk(file, buffer, large, 0, large))

static void only_the_last_byte(void) {
  buffer = map(large);
  if (late(buffer, large, 4)) {
    const int file = filled_file(0, 0);
    EXPECT_CALL(write(file, buffer + large - 1, 1), 1);
    char last = 0;
    EXPECT_EQ(pread(file, &last, 1, 0), 1);
    EXPECT_EQ(last, buffer[large - 1]);
    close(file);
  }
  munmap(buffer, large);
}

static void random_bytes(void) {
  buffer = map(large);
  if (late(buffer, large, 4)) {
    EXPECT_CALL(getrandom(buffer, 1000, 0), 1000);
    expect_part_filled(buffer, 1000, large, 4);
  }
  munmap(buffer, large);
}

static void directory_entries(void) {
  buffer = map(large);
  if (late(buffer, large, 4)) {
    const int directory = open("/proc/self/task", O_RDONLY | O_DIRECTORY);
    EXPECT(getdents64(directory, buffer, 4000) > 0, "getdents64: %s", strerror(errno));
    close(directory);
  }
  munmap(buffer, large);
}

static void bad_address_is_still_refused(void) {
  buffer = map(large);
  if (late(buffer, large, 4)) {
    const int file = filled_file(page, 1);
    char* nothing = map(page);
    munmap(nothing, page);
    errno = 0;
    EXPECT_EQ(read(file, nothing, 100), -1);
    EXPECT_EQ(errno, EFAULT);
    EXPECT_EQ(read(file, buffer, 100), 100);
    expect_part_filled(buffer, 0, 100, 1);
    expect_part_filled(buffer, 104, large, 4);
    close(file);
  }
  munmap(buffer, large);
}

static const Case cases[] = {CASE(by_write, 2),
                             CASE(by_pwrite, 2),
                             CASE(by_pwrite64, 2),
                             CASE(by_read, 2),
                             CASE(by_pread, 2),
                             CASE(by_pread64, 2),
                             CASE(by_checked_read, 2),
                             CASE(by_checked_pread, 2),
                             CASE(by_checked_pread64, 2),
                             CASE(only_the_last_byte, 2),
                             CASE(random_bytes, 2),
                             CASE(directory_entries, 2),
                             CASE(bad_address_is_still_refused, 2)};
SUITE(cases)
