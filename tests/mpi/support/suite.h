// Frame of the conformance programs: a program is a table of cases, each a function that every rank calls.
//
// A case checks what MPI demands (EXPECT...: prints FAIL, the program ends with code 1), and notes what it saw (note...).
// Rank 0 prints the notes of all ranks, `CASE <name> <rank>: <notes>`; the runner compares them between host and Sluice,
// so nothing that depends on time may be noted. The frame itself communicates by collectives only.
//
//   static const Case cases[] = {{"ring_of_small_messages", 2, ring_of_small_messages}, ...};
//   SUITE(cases)
//
// `program` runs all cases, `program NAME...` those cases.
#pragma once

#include <mpi.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNUSED_OK __attribute__((unused))

typedef struct {
  const char* name;
  int min_ranks;
  void (*run)(void);
} Case;

static int rank, size;
static const char* running = "(start)";
static int failures;
static char* notes;
static size_t notes_length;

enum { KB = 1024, MB = 1024 * 1024 };

#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

#define EXPECT(condition, ...)                                                       \
  do {                                                                               \
    if (!(condition)) {                                                              \
      failures++;                                                                    \
      fprintf(stderr, "FAIL %s rank %d %s:%d: ", running, rank, __FILE__, __LINE__); \
      fprintf(stderr, __VA_ARGS__);                                                  \
      fputc('\n', stderr);                                                           \
    }                                                                                \
  } while (0)

#define EXPECT_EQ(got, wanted)                                                             \
  do {                                                                                     \
    const long long got_ = (long long)(got), wanted_ = (long long)(wanted);                \
    EXPECT(got_ == wanted_, "%s is %lld and not %s = %lld", #got, got_, #wanted, wanted_); \
  } while (0)

// An error code has this class.
#define EXPECT_CLASS(code, wanted)                                                             \
  do {                                                                                         \
    int class_ = -1;                                                                           \
    MPI_Error_class((code), &class_);                                                          \
    EXPECT(class_ == (wanted), "%s: class %d, not %s = %d", #code, class_, #wanted, (wanted)); \
  } while (0)

UNUSED_OK static void note(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  notes = realloc(notes, notes_length + (size_t)length + 2);
  notes_length += (size_t)sprintf(notes + notes_length, " %s", text);
}

UNUSED_OK static void* allocate(size_t bytes) {
  void* memory = malloc(bytes ? bytes : 1);
  if (!memory) MPI_Abort(WORLD, 3);
  return memory;
}

// Byte i of pattern `seed`; cheap, and no period that is a power of two.
static inline uint64_t pattern_word(uint64_t seed, uint64_t index) {
  uint64_t word = (seed + 1) * 0x9e3779b97f4a7c15u + index * 0xbf58476d1ce4e5b9u;
  return word ^ (word >> 29);
}

UNUSED_OK static void fill(void* buffer, size_t bytes, unsigned seed) {
  unsigned char* to = buffer;
  for (size_t i = 0; i < bytes; i += 8) {
    const uint64_t word = pattern_word(seed, i / 8);
    memcpy(to + i, &word, bytes - i < 8 ? bytes - i : 8);
  }
}

static inline unsigned char pattern_byte(unsigned seed, size_t at) {
  const uint64_t word = pattern_word(seed, at / 8);
  return ((const unsigned char*)&word)[at % 8];
}

// Where the bytes [from, to) of a buffer differ first from pattern `seed`, which begins with the buffer; `to` where they do not.
UNUSED_OK static size_t first_difference(const void* buffer, size_t from, size_t to, unsigned seed) {
  const unsigned char* bytes = buffer;
  for (size_t i = from; i < to; i++) {
    if (bytes[i] != pattern_byte(seed, i)) return i;
    while (i % 8 == 7 && i + 8 < to) {  // whole words, while they are right
      const uint64_t next = pattern_word(seed, i / 8 + 1);
      uint64_t found;
      memcpy(&found, bytes + i + 1, sizeof found);
      if (found != next) break;
      i += 8;
    }
  }
  return to;
}

UNUSED_OK static void expect_part_filled(const void* buffer, size_t from, size_t to, unsigned seed) {
  const size_t at = first_difference(buffer, from, to, seed);
  EXPECT(at == to, "byte %zu of [%zu, %zu) is %02x and not %02x (pattern %u)", at, from, to, ((const unsigned char*)buffer)[at],
         pattern_byte(seed, at), seed);
}

UNUSED_OK static void expect_filled(const void* buffer, size_t bytes, unsigned seed) {
  expect_part_filled(buffer, 0, bytes, seed);
}

UNUSED_OK static void expect_all(const void* buffer, size_t bytes, int value) {
  const unsigned char* at = buffer;
  for (size_t i = 0; i < bytes; i++) {
    if (at[i] != (unsigned char)value) {
      EXPECT(0, "byte %zu of %zu is %02x and not %02x", i, bytes, at[i], value & 255);
      return;
    }
  }
}

UNUSED_OK static uint64_t digest_of(const void* buffer, size_t bytes) {
  const unsigned char* at = buffer;
  uint64_t digest = 0xcbf29ce484222325u ^ bytes;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    uint64_t word;
    memcpy(&word, at + i, 8);
    digest = (digest ^ word) * 0x100000001b3u;
    digest ^= digest >> 31;
  }
  for (; i < bytes; i++) digest = (digest ^ at[i]) * 0x100000001b3u;
  return digest;
}

UNUSED_OK static void note_bytes(const void* buffer, size_t bytes) {
  note("%zu:%016llx", bytes, (unsigned long long)digest_of(buffer, bytes));
}

// Source, tag and count of a receive or probe, as they must be; noted too.
UNUSED_OK static void expect_status(MPI_Status* status, int source, int tag, MPI_Datatype type, int count) {
  int got = -7, cancelled = -7;
  MPI_Get_count(status, type, &got);
  MPI_Test_cancelled(status, &cancelled);
  EXPECT_EQ(status->MPI_SOURCE, source);
  EXPECT_EQ(status->MPI_TAG, tag);
  EXPECT_EQ(got, count);
  EXPECT_EQ(cancelled, 0);
  note("(%d,%d,%d)", status->MPI_SOURCE, status->MPI_TAG, got);
}

// What MPI calls an empty status.
UNUSED_OK static void expect_empty(MPI_Status* status) { expect_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_BYTE, 0); }

static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

UNUSED_OK static void pause_ms(double milliseconds) {
  const struct timespec span = {0, (long)(milliseconds * 1e6)};
  nanosleep(&span, NULL);
}

// What a sender does that is late: long enough that a receiver waits for it on a quiet machine.
UNUSED_OK static void be_late(void) { pause_ms(3); }

static void print_notes(const char* name) {
  int length = (int)notes_length;
  int* lengths = allocate((size_t)size * sizeof(int));
  int* offsets = allocate((size_t)size * sizeof(int));
  MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, WORLD);
  size_t total = 0;
  for (int i = 0; rank == 0 && i < size; i++) {
    offsets[i] = (int)total;
    total += (size_t)lengths[i];
  }
  char* all = allocate(total);
  MPI_Gatherv(notes, length, MPI_CHAR, all, lengths, offsets, MPI_CHAR, 0, WORLD);
  for (int i = 0; rank == 0 && i < size; i++) printf("CASE %s %d:%.*s\n", name, i, lengths[i], all + offsets[i]);
  fflush(stdout);
  free(all);
  free(offsets);
  free(lengths);
  free(notes);
  notes = NULL;
  notes_length = 0;
}

static int is_wanted(const char* name, int count, char** names) {
  for (int i = 1; i < count; i++) {
    if (strcmp(names[i], name) == 0) return 1;
  }
  return count <= 1;
}

UNUSED_OK static void run_cases(const Case* cases, size_t count, int argc, char** argv) {
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  for (size_t i = 0; i < count; i++) {
    if (!is_wanted(cases[i].name, argc, argv) || size < cases[i].min_ranks) continue;
    running = cases[i].name;
    MPI_Barrier(WORLD);
    cases[i].run();
    print_notes(cases[i].name);
  }
}

UNUSED_OK static int verdict(void) {
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, WORLD);
  return failures > 0;
}

#define SUITE_AT_LEVEL(cases, level)                                  \
  int main(int argc, char** argv) {                                   \
    int provided;                                                     \
    MPI_Init_thread(&argc, &argv, level, &provided);                  \
    if (provided < (level)) MPI_Abort(WORLD, 4);                      \
    run_cases(cases, sizeof(cases) / sizeof((cases)[0]), argc, argv); \
    const int failed = verdict();                                     \
    MPI_Finalize();                                                   \
    return failed;                                                    \
  }

#define SUITE(cases)                                                  \
  int main(int argc, char** argv) {                                   \
    MPI_Init(&argc, &argv);                                           \
    run_cases(cases, sizeof(cases) / sizeof((cases)[0]), argc, argv); \
    const int failed = verdict();                                     \
    MPI_Finalize();                                                   \
    return failed;                                                    \
  }

// A table row whose name is the function's.
#define CASE(function, ranks) \
  { #function, ranks, function }
