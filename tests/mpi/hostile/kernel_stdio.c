// Streams: received buffers written to files and read into, large enough to go past the stream's own buffer.
#include <wchar.h>

#include "hostile.h"

extern size_t __fread_chk(void*, size_t, size_t, size_t, FILE*);

static char* buffer;

static FILE* stream_of(int file) {
  FILE* stream = fdopen(file, "r+");
  if (!stream) MPI_Abort(WORLD, 8);
  return stream;
}

#define WRITES(name, call)                   \
  static void name(void) {                   \
    buffer = map(large);                     \
    for (unsigned i = 1; i <= 2; i++) {      \
      if (!late(buffer, large, i)) continue; \
      const int file = filled_file(0, 0);    \
      FILE* stream = stream_of(file);        \
      EXPECT_CALL(call, large);              \
      EXPECT_CALL(fflush(stream), 0);        \
      expect_file(file, large, i);           \
      fclose(stream);                        \
    }                                        \
    munmap(buffer, large);                   \
  }

#define READS(name, call)                                   \
  static void name(void) {                                  \
    buffer = map(large);                                    \
    for (unsigned i = 1; i <= 2; i++) {                     \
      if (!late(buffer, large, i)) continue;                \
      FILE* stream = stream_of(filled_file(large, 70 + i)); \
      EXPECT_CALL(call, large);                             \
      expect_filled(buffer, large, 70 + i);                 \
      note_bytes(buffer, large);                            \
      fclose(stream);                                       \
    }                                                       \
    munmap(buffer, large);                                  \
  }

WRITES(by_fwrite, fwrite(buffer, 1, large, stream))
WRITES(by_fwrite_unlocked, fwrite_unlocked(buffer, 8, large / 8, stream) * 8)
READS(by_fread, fread(buffer, 1, large, stream))
READS(by_fread_unlocked, fread_unlocked(buffer, 8, large / 8, stream) * 8)
READS(by_checked_fread, __fread_chk(buffer, large, 1, large, stream))

static void unbuffered_fwrite(void) {
  buffer = map(large);
  if (late(buffer, large, 5)) {
    const int file = filled_file(0, 0);
    FILE* stream = stream_of(file);
    setvbuf(stream, NULL, _IONBF, 0);
    EXPECT_CALL(fwrite(buffer, 1, large, stream), large);
    expect_file(file, large, 5);
    fclose(stream);
  }
  munmap(buffer, large);
}

// One text of one line.
static void late_text(char* into) {
  char* text = allocate(large);
  memset(text, 'a' + rank / 2, large);
  text[large - 2] = '\n';
  text[large - 1] = '\0';
  if (partner() < size && rank % 2 == 0) {
    late_by();
    MPI_Send(text, large, MPI_CHAR, partner(), 1, WORLD);
  } else if (partner() < size) {
    MPI_Recv(into, large, MPI_CHAR, partner(), 1, WORLD, IGNORE);
  }
  free(text);
}

#define PUTS(name, call)                                \
  static void name(void) {                              \
    buffer = map(large);                                \
    late_text(buffer);                                  \
    if (partner() < size && rank % 2 != 0) {            \
      const int file = filled_file(0, 0);               \
      FILE* stream = stream_of(file);                   \
      EXPECT((call) >= 0, #call " failed");             \
      EXPECT_CALL(fflush(stream), 0);                   \
      char* got = allocate(large);                      \
      EXPECT_EQ(pread(file, got, large, 0), large - 1); \
      EXPECT_EQ(memcmp(got, buffer, large - 1), 0);     \
      note_bytes(got, large - 1);                       \
      free(got);                                        \
      fclose(stream);                                   \
    }                                                   \
    munmap(buffer, large);                              \
  }

PUTS(by_fputs, fputs(buffer, stream))
PUTS(by_fputs_unlocked, fputs_unlocked(buffer, stream))
PUTS(by_fprintf, fprintf(stream, "%s", buffer))
PUTS(by_dprintf, dprintf(file, "%s", buffer))
PUTS(by_write_of_its_text, write(file, buffer, large - 1))

static void by_fgets(void) {
  buffer = map(large);
  if (late(buffer, large, 5)) {
    FILE* stream = tmpfile();
    fputs("a line\nanother\n", stream);
    rewind(stream);
    EXPECT(fgets(buffer, large, stream) == buffer, "fgets");
    EXPECT_EQ(strcmp(buffer, "a line\n"), 0);
    expect_part_filled(buffer, 8, large, 5);
    fclose(stream);
  }
  munmap(buffer, large);
}

static void by_getline(void) {
  // The line's memory has a receive buffer right behind it.
  for (unsigned i = 0; i < 3; i++) {
    char* line = allocate(600);
    size_t room = 600;
    buffer = allocate(100000);
    if (late(buffer, 100000, i)) {
      FILE* stream = tmpfile();
      for (int j = 0; j < 300; j++) fputs("long ", stream);
      fputs("\n", stream);
      rewind(stream);
      EXPECT_CALL(getline(&line, &room, stream), 1501);
      EXPECT_EQ(memcmp(line, "long long ", 10), 0);
      expect_filled(buffer, 100000, i);
      fclose(stream);
    }
    free(buffer);
    free(line);
  }
}

static const Case cases[] = {CASE(by_fwrite, 2),         CASE(by_fwrite_unlocked, 2),   CASE(by_fread, 2),
                             CASE(by_fread_unlocked, 2), CASE(by_checked_fread, 2),     CASE(unbuffered_fwrite, 2),
                             CASE(by_fputs, 2),          CASE(by_fputs_unlocked, 2),    CASE(by_fprintf, 2),
                             CASE(by_dprintf, 2),        CASE(by_write_of_its_text, 2), CASE(by_fgets, 2),
                             CASE(by_getline, 2)};
SUITE(cases)
