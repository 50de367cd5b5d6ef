// POSIX asynchronous input and output on buffers that were received a moment ago.
#include <aio.h>

#include "hostile.h"

static char* buffer;
static struct aiocb control;
static struct aiocb64 control64;

static ssize_t finished(int started) {
  const struct aiocb* list[] = {&control};
  if (started != 0) return -1;
  while (aio_error(&control) == EINPROGRESS) aio_suspend(list, 1, NULL);
  errno = aio_error(&control);
  return aio_return(&control);
}

static ssize_t finished64(int started) {
  const struct aiocb64* list[] = {&control64};
  if (started != 0) return -1;
  while (aio_error64(&control64) == EINPROGRESS) aio_suspend64(list, 1, NULL);
  errno = aio_error64(&control64);
  return aio_return64(&control64);
}

static int listed(int operation) {
  struct aiocb* list[] = {&control};
  control.aio_lio_opcode = operation;
  return lio_listio(LIO_WAIT, list, 1, NULL);
}

static void describe(int file) {
  memset(&control, 0, sizeof control);
  memset(&control64, 0, sizeof control64);
  control.aio_fildes = control64.aio_fildes = file;
  control.aio_buf = control64.aio_buf = buffer;
  control.aio_nbytes = control64.aio_nbytes = large;
}

#define WRITES(name, call)                   \
  static void name(void) {                   \
    buffer = map(large);                     \
    for (unsigned i = 1; i <= 2; i++) {      \
      if (!late(buffer, large, i)) continue; \
      const int file = filled_file(0, 0);    \
      describe(file);                        \
      EXPECT_CALL(call, large);              \
      expect_file(file, large, i);           \
      close(file);                           \
    }                                        \
    munmap(buffer, large);                   \
  }

#define READS(name, call)                          \
  static void name(void) {                         \
    buffer = map(large);                           \
    for (unsigned i = 1; i <= 2; i++) {            \
      if (!late(buffer, large, i)) continue;       \
      const int file = filled_file(large, 80 + i); \
      describe(file);                              \
      EXPECT_CALL(call, large);                    \
      expect_filled(buffer, large, 80 + i);        \
      note_bytes(buffer, large);                   \
      close(file);                                 \
    }                                              \
    munmap(buffer, large);                         \
  }

WRITES(by_aio_write, finished(aio_write(&control)))
WRITES(by_aio_write64, finished64(aio_write64(&control64)))
WRITES(by_list_of_writes, finished(listed(LIO_WRITE)))
READS(by_aio_read, finished(aio_read(&control)))
READS(by_aio_read64, finished64(aio_read64(&control64)))
READS(by_list_of_reads, finished(listed(LIO_READ)))

static const Case cases[] = {CASE(by_aio_write, 2), CASE(by_aio_write64, 2), CASE(by_list_of_writes, 2),
                             CASE(by_aio_read, 2),  CASE(by_aio_read64, 2),  CASE(by_list_of_reads, 2)};
SUITE(cases)
