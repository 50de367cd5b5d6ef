// Children of a process whose memory has travelled. They read all of it and hold none; who writes, parent or child, writes its
// own.
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "footprint.h"

enum { array = 128 * MB, piece = MB, page = 4096, children = 4 };

static void exchange(char* memory, size_t bytes, unsigned seed) {
  for (int round = 0; round < 8; round++) {
    for (size_t at = 0; at < bytes; at += piece) {
      const int now = (int)(bytes - at < piece ? bytes - at : piece);
      if (rank == 0) fill(memory + at, (size_t)now, seed), MPI_Send(memory + at, now, MPI_BYTE, 1, 0, WORLD);
      if (rank == 1) MPI_Recv(memory + at, now, MPI_BYTE, 0, 0, WORLD, IGNORE);
    }
  }
}

static int is_filled(const char* memory, size_t bytes, unsigned seed) {
  for (size_t at = 0; at < bytes; at += piece) {
    const size_t now = bytes - at < piece ? bytes - at : piece;
    if (first_difference(memory + at, 0, now, seed) != now) return 0;
  }
  return 1;
}

static char* map(size_t bytes) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) MPI_Abort(WORLD, 5);
  return memory;
}

static void expect_ended_well(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with wait status %x", status);
}

static void readers_hold_nothing(void) {
  char* memory = map(array);
  memset(memory, 1, array);
  exchange(memory, array, 3);
  int told[2], go[2];
  if (rank == 1 && pipe(told) == 0 && pipe(go) == 0) {
    pid_t child[children];
    for (int i = 0; i < children; i++) {
      if ((child[i] = fork()) != 0) continue;
      const int right = is_filled(memory, array, 3);
      const long kb = resident_kb();
      char byte;
      if (write(told[1], &kb, sizeof kb) != sizeof kb || read(go[0], &byte, 1) != 1) _exit(2);
      _exit(!right);
    }
    long sum = 0;
    for (int i = 0; i < children; i++) {
      long kb = 0;
      EXPECT_EQ(read(told[0], &kb, sizeof kb), sizeof kb);
      sum += kb;
    }
    printf("HELD readers %d %ld\n", rank, sum + held_kb());
    EXPECT_EQ(write(go[1], "1234", children), children);
    for (int i = 0; i < children; i++) expect_ended_well(child[i]);
    // Nobody needs what was shared any more.
    memset(memory, 4, array);
    for (int i = 0; i < 200 && held_kb() > 1.1 * array / KB + 32 * KB; i++) pause_ms(10);
    printf("HELD rewritten %d %ld\n", rank, held_kb());
    expect_all(memory, array, 4);
  }
  MPI_Barrier(WORLD);
  munmap(memory, array);
}

static void each_writes_its_own(void) {
  enum { bytes = 3 * MB + 12345 };
  char* memory = map(bytes);
  for (unsigned round = 0; round < 4; round++) {
    exchange(memory, bytes, round);
    if (rank != 1) continue;
    int go[2];
    if (pipe(go) != 0) MPI_Abort(WORLD, 6);
    const pid_t child = fork();
    if (child == 0) {
      char byte;
      if (!is_filled(memory, bytes, round)) _exit(1);
      memset(memory, 7, bytes / 2);
      if (read(go[0], &byte, 1) != 1) _exit(2);
      for (size_t i = bytes / 2; i < bytes; i++)
        if (memory[i] != (char)pattern_byte(round, i % piece)) _exit(3);
      const pid_t grandchild = fork();
      if (grandchild == 0) _exit(memory[1] != 7 || memory[bytes - 1] != (char)pattern_byte(round, (bytes - 1) % piece));
      int status;
      _exit(waitpid(grandchild, &status, 0) != grandchild || status != 0);
    }
    EXPECT(is_filled(memory, bytes, round), "round %u: the child's writing is seen", round);
    memset(memory + bytes / 4, 9, bytes / 2);
    EXPECT_EQ(write(go[1], "g", 1), 1);
    expect_ended_well(child);
    expect_all(memory + bytes / 4, bytes / 2, 9);
    close(go[0]), close(go[1]);
  }
  note("%d", memory[bytes / 4]);
  munmap(memory, bytes);
}

static void receives_under_way(void) {
  enum { bytes = 2 * MB + 77, margin = 1000 };
  char* memory = map(bytes + 2 * page);
  memset(memory, 5, bytes + 2 * page);
  for (unsigned round = 0; round < 12; round++) {
    if (rank == 0) {
      char* sent = allocate(bytes);
      fill(sent, bytes, round);
      MPI_Barrier(WORLD);
      MPI_Send(sent, bytes, MPI_BYTE, 1, 0, WORLD);
      free(sent);
    } else if (rank == 1) {
      MPI_Request request;
      MPI_Irecv(memory + margin, bytes, MPI_BYTE, 0, 0, WORLD, &request);
      const pid_t child = fork();
      if (child == 0) {
        memset(memory, 6, bytes + 2 * page);
        pause_ms(10);
        _exit(memory[bytes / 2] != 6);
      }
      memory[margin - 1] = memory[margin + bytes] = (char)round;  // beside what comes
      MPI_Barrier(WORLD);
      MPI_Wait(&request, IGNORE);
      expect_filled(memory + margin, bytes, round);
      EXPECT_EQ(memory[margin - 1], (char)round);
      EXPECT_EQ(memory[margin + bytes], (char)round);
      expect_all(memory, margin - 1, 5);
      expect_ended_well(child);
    } else {
      MPI_Barrier(WORLD);
    }
  }
  if (rank == 1) note_bytes(memory, bytes + margin);
  munmap(memory, bytes + 2 * page);
}

static int drops_and_grows(char* memory, size_t bytes, unsigned seed) {
  if (madvise(memory + 4 * page, 64 * page, MADV_DONTNEED) != 0) return 1;
  for (size_t i = 4 * page; i < 68 * page; i++)
    if (memory[i] != 0) return 2;
  if (memory[4 * page - 1] != (char)pattern_byte(seed, 4 * page - 1) || memory[68 * page] != (char)pattern_byte(seed, 68 * page))
    return 3;
  char* grown = mremap(memory, bytes, 2 * bytes, MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) return 4;
  for (size_t i = bytes; i < 2 * bytes; i++)
    if (grown[i] != 0) return 5;
  if (grown[bytes - 1] != (char)pattern_byte(seed, (bytes - 1) % piece)) return 6;
  munmap(grown, 2 * bytes);
  return 0;
}

static void dropped_memory_reads_zeros(void) {
  enum { bytes = 2 * MB };
  for (unsigned round = 0; round < 3; round++) {
    char* memory = map(bytes);
    exchange(memory, bytes, round);
    if (rank == 1) {
      const pid_t child = fork();
      if (child == 0) _exit(drops_and_grows(memory, bytes, round));
      expect_ended_well(child);
      EXPECT_EQ(drops_and_grows(memory, bytes, round), 0);
    } else {
      munmap(memory, bytes);
    }
  }
}

static void allocators_go_on(void) {
  enum { many = 64, bytes = 300 * KB };
  char* buffer[many];
  for (unsigned round = 0; round < 3; round++) {
    for (int i = 0; i < many; i++) buffer[i] = allocate(bytes), exchange(buffer[i], bytes, (unsigned)i);
    const pid_t child = rank == 1 ? fork() : -1;
    for (int i = 0; i < many; i += 2) free(buffer[i]);
    malloc_trim(0);
    for (int i = 0; i < many; i += 2) {
      buffer[i] = calloc(bytes, 1);
      expect_all(buffer[i], bytes, 0);
      buffer[i] = realloc(buffer[i], 3 * bytes);
      expect_all(buffer[i], bytes, 0);
    }
    for (int i = 1; i < many; i += 2) expect_filled(buffer[i], bytes, (unsigned)i);
    for (int i = 0; i < many; i++) free(buffer[i]);
    if (child == 0) _exit(failures != 0);
    if (child > 0) expect_ended_well(child);
  }
}

static void after_many_children_messages_go_on(void) {
  enum { bytes = MB + 4321 };
  char* memory = map(bytes);
  for (unsigned round = 0; round < 20; round++) {
    if (rank == 0) fill(memory, bytes, round), MPI_Send(memory, bytes, MPI_BYTE, 1, 0, WORLD);
    if (rank == 1) {
      MPI_Recv(memory, bytes, MPI_BYTE, 0, 0, WORLD, IGNORE);
      expect_filled(memory, bytes, round);
      const pid_t child = fork();
      if (child == 0) _exit(first_difference(memory, 0, bytes, round) != bytes);
      if (round % 2) expect_ended_well(child);
      MPI_Send(memory, bytes, MPI_BYTE, 0, 0, WORLD);
    } else if (rank == 0) {
      MPI_Recv(memory, bytes, MPI_BYTE, 1, 0, WORLD, IGNORE);
      expect_filled(memory, bytes, round);
    }
  }
  while (waitpid(-1, NULL, WNOHANG) > 0) {
  }
  if (rank < 2) note_bytes(memory, bytes);
  munmap(memory, bytes);
}

static const Case cases[] = {CASE(readers_hold_nothing, 2), CASE(each_writes_its_own, 2),
                             CASE(receives_under_way, 2),   CASE(dropped_memory_reads_zeros, 2),
                             CASE(allocators_go_on, 2),     CASE(after_many_children_messages_go_on, 2)};
SUITE(cases)
