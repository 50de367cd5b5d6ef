// A program with nearly as many mappings as Linux grants a process (vm.max_map_count) receives, and goes on making more: it must
// get nearly as many as without a library between it and its MPI. The reserve is what docs/limits.md grants to that.
#include "hostile.h"

enum { messages = 800, bytes = 20000, stride = 7 * page, few_left = 6000 };

static long number_in(const char* path) {
  FILE* file = fopen(path, "r");
  long number = 0;
  if (fscanf(file, "%ld", &number) != 1) MPI_Abort(WORLD, 8);
  fclose(file);
  return number;
}

static long mapping_count(void) {
  FILE* file = fopen("/proc/self/maps", "r");
  long lines = 0;
  for (int c; (c = fgetc(file)) != EOF;) lines += c == '\n';
  fclose(file);
  return lines;
}

// Every other page gets another protection, until the kernel refuses or there are so many; their number.
static long make_mappings(char* area, long max_mappings) {
  long made = 0;
  for (; made + 2 <= max_mappings; made += 2) {
    if (mprotect(area + (made + 1) * page, page, PROT_READ) != 0) break;
  }
  return made;
}

static void receive_everywhere(char* memory) {
  for (int i = 0; i < messages; i++) {
    char* buffer = memory + (size_t)i * stride;
    if (partner() >= size) return;
    if (rank % 2 != 0) {
      MPI_Recv(buffer, bytes, MPI_BYTE, partner(), 1, WORLD, IGNORE);
      expect_filled(buffer, bytes, (unsigned)i);
    } else {
      fill(buffer, bytes, (unsigned)i);
      pause_ms(0.3);
      MPI_Send(buffer, bytes, MPI_BYTE, partner(), 1, WORLD);
    }
  }
}

static void the_program_gets_its_mappings(void) {
  const long granted = number_in("/proc/sys/vm/max_map_count");
  const long reserve = few_left / 4 + 64;
  char* memory = map((size_t)messages * stride);
  char* area = map((size_t)(granted + 2) * page);
  const long wanted = granted - few_left - mapping_count();
  const long first = make_mappings(area, wanted);
  EXPECT(first >= wanted - 2, "%ld mappings of %ld", first, wanted);
  receive_everywhere(memory);
  const long more = make_mappings(area + first * page, granted - first);
  EXPECT(more >= few_left - reserve, "%ld more mappings where %d were left", more, few_left);
  munmap(area + 2 * page, (size_t)granted * page);
  receive_everywhere(memory);
  munmap(memory, (size_t)messages * stride);
}

static const Case cases[] = {CASE(the_program_gets_its_mappings, 2)};
SUITE(cases)
