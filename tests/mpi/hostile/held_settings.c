// Ranks that replace pages beside ranks that do not (SLUICE_BLOCKS): both sides of each message stay right, whoever is asked to
// copy. HELD_SETTINGS says which ranks set SLUICE_BLOCKS=off: even, odd or all.
#include "hostile.h"

enum { rounds = 10, longest = 700001 };

static int keeps_pages(void) {
  const char* who = getenv("HELD_SETTINGS");
  if (!who) return 0;
  return !strcmp(who, "all") || (!strcmp(who, "odd")) == rank % 2;
}

__attribute__((constructor)) static void choose(void) {
  const char* number = getenv("OMPI_COMM_WORLD_RANK");
  rank = number ? atoi(number) : 0;
  if (keeps_pages()) setenv("SLUICE_BLOCKS", "off", 1);
}

static int maps_memory_file(void) {
  char line[512];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) found |= strstr(line, "sluice-alias") != NULL;
  fclose(maps);
  return found;
}

static const int lengths[] = {1, 5000, 65537, 300000, longest};

static void there_and_back(void) {
  if (partner() >= size) return;
  char* out = map(longest);
  char* in = map(longest);
  for (unsigned i = 0; i < rounds * 5; i++) {
    const int bytes = lengths[i % 5];
    fill(out, (size_t)bytes, i);
    if (rank % 2 == 0) {
      MPI_Send(out, bytes, MPI_BYTE, partner(), 1, WORLD);
      MPI_Recv(in, bytes, MPI_BYTE, partner(), 2, WORLD, IGNORE);
    } else {
      if (i % 3 == 0) pause_ms(1);
      MPI_Recv(in, bytes, MPI_BYTE, partner(), 1, WORLD, IGNORE);
      MPI_Send(out, bytes, MPI_BYTE, partner(), 2, WORLD);
    }
    expect_filled(in, (size_t)bytes, i);
  }
  EXPECT(!keeps_pages() || !maps_memory_file(), "the memory file is mapped");
  munmap(out, longest);
  munmap(in, longest);
}

static void both_at_once(void) {
  if (partner() >= size) return;
  char* out = map(longest);
  char* in = map(longest);
  for (unsigned i = 0; i < rounds; i++) {
    MPI_Request pair[2];
    fill(out, longest, i + (unsigned)rank);
    MPI_Irecv(in, longest, MPI_BYTE, partner(), 1, WORLD, &pair[0]);
    MPI_Isend(out, longest, MPI_BYTE, partner(), 1, WORLD, &pair[1]);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    expect_filled(in, longest, i + (unsigned)partner());
  }
  munmap(out, longest);
  munmap(in, longest);
}

static void with_gaps(void) {
  if (partner() >= size) return;
  enum { pieces = 3000, piece = 30, stride = 47 };
  MPI_Datatype type;
  MPI_Type_vector(pieces, piece, stride, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  char* memory = map(pieces * stride);
  char* plain = allocate(pieces * piece);
  for (unsigned i = 0; i < rounds; i++) {
    if (rank % 2 == 0) {
      fill(plain, pieces * piece, i);
      MPI_Ssend(plain, pieces * piece, MPI_BYTE, partner(), 3, WORLD);
    } else {
      MPI_Recv(memory, 1, type, partner(), 3, WORLD, IGNORE);
      for (int k = 0; k < pieces; k++) memcpy(plain + k * piece, memory + k * stride, piece);
      expect_filled(plain, pieces * piece, i);
    }
  }
  free(plain);
  munmap(memory, pieces * stride);
  MPI_Type_free(&type);
}

static const Case cases[] = {CASE(there_and_back, 2), CASE(both_at_once, 2), CASE(with_gaps, 2)};
SUITE(cases)
