// Streams whose own buffers share pages with a receive buffer, or lie in one: stdio empties and fills them by system calls that
// no wrapper sees.
#include <stdio_ext.h>

#include "hostile.h"

static Neighbours n;
static FILE* stream;
static int file;
static char text[3 * margin];

// A stream with text in its buffer, which lies in front of a receive buffer.
static void open_stream(const char* mode) {
  memset(text, 't', sizeof text);
  n = map_neighbours();
  file = filled_file(sizeof text, 5);
  stream = fdopen(file, mode);
  setvbuf(stream, n.before, _IOFBF, margin);
}

static void close_stream(void) {
  if (stream) fclose(stream);
  unmap_neighbours(n);
}

static void expect_text(size_t bytes) {
  char got[sizeof text];
  EXPECT_EQ(pread(file, got, bytes, 0), bytes);
  EXPECT(memcmp(got, text, bytes) == 0, "the text is not in the file");
}

#define EMPTIES(name, before, call, bytes)                \
  static void name(void) {                                \
    open_stream("r+");                                    \
    fwrite(text, 1, before, stream);                      \
    if (late(n.buffer, large, 6)) {                       \
      EXPECT((call) >= 0, #call ": %s", strerror(errno)); \
      expect_text(bytes);                                 \
      expect_filled(n.buffer, large, 6);                  \
    }                                                     \
    close_stream();                                       \
  }

static int closed(void) {
  const int kept = dup(file);
  const int result = fclose(stream);
  stream = NULL;
  file = kept;
  return result;
}

static int put_all(int (*put)(int, FILE*)) {
  for (size_t i = 500; i < sizeof text; i++) {
    if (put(text[i], stream) == EOF) return -1;
  }
  return fflush(stream);
}

static int put_inline(int character, FILE* to) { return putc_unlocked(character, to); }

EMPTIES(by_fflush, 500, fflush(stream), 500)
EMPTIES(by_fflush_unlocked, 500, fflush_unlocked(stream), 500)
EMPTIES(by_fflush_of_all, 500, fflush(NULL), 500)
EMPTIES(by_fclose, 500, closed(), 500)
EMPTIES(by_fseek, 500, fseek(stream, 0, SEEK_SET), 500)
EMPTIES(by_fseeko, 500, fseeko(stream, 0, SEEK_SET), 500)
EMPTIES(by_rewind, 500, (rewind(stream), 0), 500)
EMPTIES(by_fputc, 500, put_all(fputc), sizeof text)
EMPTIES(by_putc, 500, put_all(putc), sizeof text)
EMPTIES(by_putc_unlocked, 500, put_all(put_inline), sizeof text)
EMPTIES(by_fwrite, 500, fwrite(text, 1, 2 * margin, stream) == 2 * margin ? fflush(stream) : -1, 500 + 2 * margin)
EMPTIES(by_fputs, 500, fputs("tttttttttt", stream) < 0 ? -1 : fflush(stream), 510)
EMPTIES(by_fprintf, 500, fprintf(stream, "%.*s", 2000, text) < 0 ? -1 : fflush(stream), 2500)

#define FILLS(name, call)                          \
  static void name(void) {                         \
    open_stream("r");                              \
    char got[200];                                 \
    if (late(n.buffer, large, 6)) {                \
      memset(got, 0, sizeof got);                  \
      EXPECT(call, #call ": %s", strerror(errno)); \
      expect_filled(got, 1, 5);                    \
      EXPECT_EQ(ferror(stream), 0);                \
      expect_filled(n.buffer, large, 6);           \
    }                                              \
    close_stream();                                \
  }

static int stored(char* at, int character) {
  *at = (char)character;
  return character != EOF;
}

static int first_of_line(char* got) {
  char* line = NULL;
  size_t room = 0;
  const int read = getdelim(&line, &room, EOF, stream) > 0;
  if (read) got[0] = line[0];
  free(line);
  return read;
}

FILLS(by_getc, stored(got, getc(stream)))
FILLS(by_fgetc, stored(got, fgetc(stream)))
FILLS(by_getc_unlocked, stored(got, getc_unlocked(stream)))
FILLS(by_fgets, fgets(got, sizeof got, stream) == got)
FILLS(by_fread, fread(got, 1, sizeof got, stream) == sizeof got)
FILLS(by_getdelim, first_of_line(got))
FILLS(by_fscanf, fscanf(stream, "%c", got) == 1)

static void first_buffer_of_a_stream(void) {
  // stdio takes it from the heap when it is first needed: here often right behind a receive buffer.
  enum { bytes = 100000 };
  for (unsigned i = 0; i < 6; i++) {
    file = filled_file(sizeof text, 5);
    stream = fdopen(file, "r");
    char* buffer = allocate(bytes);
    if (late(buffer, bytes, i)) {
      char got[100];
      EXPECT_CALL(fread(got, 1, sizeof got, stream), sizeof got);
      expect_filled(got, sizeof got, 5);
      expect_filled(buffer, bytes, i);
    }
    free(buffer);
    fclose(stream);
  }
}

static const Case cases[] = {CASE(by_fflush, 2),
                             CASE(by_fflush_unlocked, 2),
                             CASE(by_fflush_of_all, 2),
                             CASE(by_fclose, 2),
                             CASE(by_fseek, 2),
                             CASE(by_fseeko, 2),
                             CASE(by_rewind, 2),
                             CASE(by_fputc, 2),
                             CASE(by_putc, 2),
                             CASE(by_putc_unlocked, 2),
                             CASE(by_fwrite, 2),
                             CASE(by_fputs, 2),
                             CASE(by_fprintf, 2),
                             CASE(by_getc, 2),
                             CASE(by_fgetc, 2),
                             CASE(by_getc_unlocked, 2),
                             CASE(by_fgets, 2),
                             CASE(by_fread, 2),
                             CASE(by_getdelim, 2),
                             CASE(by_fscanf, 2),
                             CASE(first_buffer_of_a_stream, 2)};
SUITE(cases)
