// Memory in transparent huge pages stays in them, whatever is received into it or sent from it. What counts is how many KB of a
// buffer are in huge pages, of whatever kind, before and after.
#include <sys/prctl.h>
#include <sys/wait.h>

#include "hostile.h"

enum { extent = 2 * MB, extents = 6, bytes = extents * extent, rounds = 8, advice_collapse = 25 };

// The tests' own surroundings may have them switched off.
__attribute__((constructor)) static void want_huge_pages(void) { prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0); }

static long huge_kb(const char* buffer, size_t length) {
  char line[512];
  int inside = 0;
  long sum = 0, kb = 0;
  FILE* maps = fopen("/proc/self/smaps", "r");
  while (fgets(line, sizeof line, maps)) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
      inside = begin < (unsigned long)buffer + length && end > (unsigned long)buffer;
    if (!inside) continue;
    if (sscanf(line, "AnonHugePages: %ld", &kb) == 1 || sscanf(line, "ShmemPmdMapped: %ld", &kb) == 1) sum += kb;
  }
  fclose(maps);
  return sum;
}

// `count` extents with nothing beside them that the kernel might merge them with.
static char* map_extents(size_t count, int advice) {
  char* reserved = mmap(NULL, (count + 2) * extent, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) MPI_Abort(WORLD, 5);
  char* memory = (char*)(((uintptr_t)reserved / extent + 1) * extent);
  mprotect(memory, count * extent, PROT_READ | PROT_WRITE);
  if (advice >= 0) madvise(memory, count * extent, advice);
  return memory;
}

// What the machine gives to whoever asks now: it may have run short of huge pages.
static long huge_kb_to_be_had(size_t count) {
  char* memory = map_extents(count, MADV_HUGEPAGE);
  memset(memory, 1, count * extent);
  const long kb = huge_kb(memory, count * extent);
  munmap(memory, count * extent);
  return kb;
}

static void send_to_itself(char* buffer, size_t length, unsigned seed) {
  MPI_Request receive;
  char* sent = allocate(length);
  fill(sent, length, seed);
  MPI_Irecv(buffer, (int)length, MPI_BYTE, rank, 1, WORLD, &receive);
  MPI_Send(sent, (int)length, MPI_BYTE, rank, 1, WORLD);
  MPI_Wait(&receive, IGNORE);
  expect_filled(buffer, length, seed);
  free(sent);
}

// The lower rank of each pair sends late, out of `buffer` itself. Who has no partner is its own.
static void exchange(char* buffer, size_t length, unsigned seed) {
  if (partner() >= size) return send_to_itself(buffer, length, seed);
  if (rank % 2 != 0) {
    MPI_Recv(buffer, (int)length, MPI_BYTE, partner(), 1, WORLD, IGNORE);
    expect_filled(buffer, length, seed);
    return;
  }
  fill(buffer, length, seed);
  pause_ms(3);
  MPI_Send(buffer, (int)length, MPI_BYTE, partner(), 1, WORLD);
}

static void exchange_often(char* buffer, size_t length) {
  for (unsigned i = 0; i < rounds; i++) exchange(buffer, length, i);
}

#define EXPECT_HUGE(buffer, length, before)                                                         \
  do {                                                                                              \
    const long now_ = huge_kb(buffer, length);                                                      \
    EXPECT(now_ >= (before), "%ld KB are in huge pages, and %ld were to be", now_, (long)(before)); \
  } while (0)

static void with_messages_of(size_t at, size_t length) {
  char* buffer = map_extents(extents, MADV_HUGEPAGE);
  memset(buffer, 1, bytes);
  const long before = huge_kb(buffer, bytes);
  exchange_often(buffer + at, length);
  EXPECT_HUGE(buffer, bytes, before);
  expect_all(buffer, at, 1);
  expect_all(buffer + at + length, bytes - at - length, 1);
  munmap(buffer, bytes);
}

static void all_of_it(void) {
  char* buffer = map_extents(extents, MADV_HUGEPAGE);
  memset(buffer, 1, bytes);
  const long before = huge_kb(buffer, bytes);
  exchange_often(buffer, bytes);
  EXPECT_HUGE(buffer, bytes, before);
  munmap(buffer, bytes);
}

static void whole_extents(void) { with_messages_of(extent, 2 * extent); }
static void a_part_of_one(void) { with_messages_of(extent + 300 * page, large); }
static void across_borders(void) { with_messages_of(2 * extent - 77777, extent + 155555); }

static void in_pieces(void) {
  char* buffer = map_extents(extents, MADV_HUGEPAGE);
  memset(buffer, 1, bytes);
  const long before = huge_kb(buffer, bytes);
  const size_t piece = MB + 4321;
  for (unsigned i = 0; i < rounds; i++) {
    for (size_t at = 0; at + piece <= bytes; at += piece) exchange(buffer + at, piece, i);
  }
  EXPECT_HUGE(buffer, bytes, before);
  munmap(buffer, bytes);
}

static void both_ways_at_once(void) {
  if (partner() >= size) return;
  char* in = map_extents(extents, MADV_HUGEPAGE);
  char* out = map_extents(extents, MADV_HUGEPAGE);
  memset(in, 1, bytes);
  fill(out, bytes, (unsigned)rank);
  const long before = huge_kb(in, bytes) + huge_kb(out, bytes);
  for (int i = 0; i < rounds; i++) {
    MPI_Request pair[2];
    MPI_Irecv(in, bytes, MPI_BYTE, partner(), 1, WORLD, &pair[0]);
    MPI_Isend(out, bytes, MPI_BYTE, partner(), 1, WORLD, &pair[1]);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    expect_filled(in, bytes, (unsigned)partner());
    memset(in, 1, bytes);
  }
  EXPECT(huge_kb(in, bytes) + huge_kb(out, bytes) >= before, "huge pages are lost");
  munmap(in, bytes);
  munmap(out, bytes);
}

static void first_touched_by_a_receive(void) {
  const long wanted = huge_kb_to_be_had(extents);
  char* buffer = map_extents(extents, MADV_HUGEPAGE);
  exchange(buffer, bytes, 3);
  EXPECT_HUGE(buffer, bytes, wanted);
  exchange_often(buffer, bytes);
  EXPECT_HUGE(buffer, bytes, wanted);
  munmap(buffer, bytes);
}

// --- advice about what is a block ---------------------------------------------------------------------------------------

static void wanted_when_it_is_a_block(void) {
  char* buffer = map_extents(extents, MADV_NOHUGEPAGE);
  exchange_often(buffer, bytes);
  const long wanted = huge_kb_to_be_had(extents);
  EXPECT_CALL(madvise(buffer, bytes, MADV_HUGEPAGE), 0);
  expect_filled(buffer, bytes, rounds - 1);
  EXPECT_CALL(madvise(buffer, bytes, MADV_DONTNEED), 0);
  memset(buffer, 1, bytes);
  EXPECT_HUGE(buffer, bytes, wanted);
  exchange_often(buffer, bytes);
  EXPECT_HUGE(buffer, bytes, wanted);
  munmap(buffer, bytes);
}

// Whether the kernel has the advice, and memory for it, shows on other memory.
static long collapsed(char* buffer) {
  memset(buffer, 1, bytes);
  return madvise(buffer, bytes, advice_collapse) == 0 ? huge_kb(buffer, bytes) : -1;
}

static void collapsed_when_it_is_a_block(void) {
  char* other = map_extents(extents, -1);
  char* buffer = map_extents(extents, -1);
  exchange_often(buffer, bytes);
  const long wanted = collapsed(other);
  if (wanted > 0) EXPECT_CALL(madvise(buffer, bytes, advice_collapse), 0);
  expect_filled(buffer, bytes, rounds - 1);
  if (wanted > 0) EXPECT_HUGE(buffer, bytes, wanted);
  exchange_often(buffer, bytes);
  if (wanted > 0) EXPECT_HUGE(buffer, bytes, wanted);
  munmap(buffer, bytes);
  munmap(other, bytes);
}

static void not_wanted_any_more(void) {
  char* buffer = map_extents(extents, MADV_HUGEPAGE);
  EXPECT_CALL(madvise(buffer, bytes, MADV_NOHUGEPAGE), 0);
  memset(buffer, 1, bytes);
  for (unsigned i = 0; i < rounds; i++) {
    if (late(buffer + extent, 2 * extent, i)) expect_filled(buffer + extent, 2 * extent, i);
  }
  munmap(buffer, bytes);
}

// --- others that look at the pages --------------------------------------------------------------------------------------

static void beside_a_child(void) {
  int stop[2], status = 0;
  char none;
  char* buffer = map_extents(extents, MADV_HUGEPAGE);
  fill(buffer, bytes, 70);
  if (pipe(stop) != 0) MPI_Abort(WORLD, 6);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(stop[1]);
    if (read(stop[0], &none, 1) != 0) _exit(2);
    _exit(first_difference(buffer, 0, bytes, 70) != bytes);
  }
  close(stop[0]);
  exchange_often(buffer + extent, 2 * extent);
  close(stop[1]);
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  memset(buffer, 1, bytes);
  exchange_often(buffer, bytes);
  munmap(buffer, bytes);
}

static void in_a_window(void) {
  MPI_Win window;
  char* buffer = map_extents(extents, MADV_HUGEPAGE);
  memset(buffer, 1, bytes);
  const long before = huge_kb(buffer, bytes);
  MPI_Win_create(buffer, bytes, 1, MPI_INFO_NULL, WORLD, &window);
  char* source = allocate(large);
  fill(source, large, (unsigned)rank);
  MPI_Win_fence(0, window);
  MPI_Put(source, large, MPI_BYTE, (rank + 1) % size, extent - 5000, large, MPI_BYTE, window);
  MPI_Win_fence(0, window);
  expect_filled(buffer + extent - 5000, large, (unsigned)((rank + size - 1) % size));
  exchange_often(buffer, bytes);
  MPI_Win_free(&window);
  exchange_often(buffer, bytes);
  EXPECT_HUGE(buffer, bytes, before);
  free(source);
  munmap(buffer, bytes);
}

static const Case cases[] = {CASE(all_of_it, 1),
                             CASE(whole_extents, 1),
                             CASE(a_part_of_one, 1),
                             CASE(across_borders, 1),
                             CASE(in_pieces, 1),
                             CASE(both_ways_at_once, 2),
                             CASE(first_touched_by_a_receive, 1),
                             CASE(wanted_when_it_is_a_block, 1),
                             CASE(collapsed_when_it_is_a_block, 1),
                             CASE(not_wanted_any_more, 2),
                             CASE(beside_a_child, 1),
                             CASE(in_a_window, 2)};
SUITE(cases)
