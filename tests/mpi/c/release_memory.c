// Late messages into every kind of memory.
#include <sys/mman.h>

#include "late.h"

static char static_buffer[large];
static char initialised_buffer[large] = {1, 2, 3};

static void static_memory(void) {
  for (unsigned i = 0; i < 3; i++) {
    if (late_message(static_buffer, large, i)) expect_filled(static_buffer, large, i);
    if (late_message(initialised_buffer, large, i + 10)) expect_filled(initialised_buffer, large, i + 10);
  }
}

static void __attribute__((noinline)) stack_memory(void) {
  char buffer[large];
  for (unsigned i = 0; i < 3; i++) {
    if (late_message(buffer, large, i)) expect_filled(buffer, large, i);
  }
}

static void heap_memory_below_the_mapping_threshold(void) {  // inside the brk heap, with neighbours
  enum { bytes = 100000 };
  for (unsigned i = 0; i < 8; i++) {
    char *before = allocate(500), *buffer = allocate(bytes), *after = allocate(500);
    memset(before, 0x31, 500);
    memset(after, 0x32, 500);
    if (late_message(buffer, bytes, i)) {
      expect_all(before, 500, 0x31);
      memset(after, 0x33, 500);
      expect_filled(buffer, bytes, i);
      expect_all(after, 500, 0x33);
    }
    free(after);
    free(buffer);
    free(before);
  }
}

static void aligned_memory(void) {
  for (size_t alignment = 4096; alignment <= 2 * MB; alignment *= 8) {
    void* buffer = NULL;
    EXPECT_EQ(posix_memalign(&buffer, alignment, large), 0);
    if (late_message(buffer, large, 5)) expect_filled(buffer, large, 5);
    free(buffer);
  }
}

static char* map(size_t bytes, int flags) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) MPI_Abort(WORLD, 5);
  return memory;
}

static void mapped_private_memory(void) {
  for (unsigned i = 0; i < 3; i++) {
    char* buffer = map(large, MAP_PRIVATE);
    if (late_message(buffer, large, i)) expect_filled(buffer, large, i);
    munmap(buffer, large);
  }
}

static void mapped_shared_memory(void) {
  char* buffer = map(large, MAP_SHARED);
  for (unsigned i = 0; i < 3; i++) {
    if (late_message(buffer, large, i)) expect_filled(buffer, large, i);
  }
  munmap(buffer, large);
}

static void mapped_file(void) {
  char name[] = "/tmp/mpi-suite-XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  EXPECT_EQ(ftruncate(file, large), 0);
  char* buffer = mmap(NULL, large, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (late_message(buffer, large, 4)) {
    expect_filled(buffer, large, 4);
    msync(buffer, large, MS_SYNC);
    char* copy = allocate(large);
    EXPECT_EQ(pread(file, copy, large, 0), large);
    expect_filled(copy, large, 4);
    free(copy);
  }
  munmap(buffer, large);
  close(file);
}

static void allocated_by_mpi(void) {
  char* buffer;
  MPI_Alloc_mem(large, MPI_INFO_NULL, &buffer);
  for (unsigned i = 0; i < 3; i++) {
    if (late_message(buffer, large, i)) expect_filled(buffer, large, i);
  }
  MPI_Free_mem(buffer);
}

static void memory_of_a_shared_window(void) {
  MPI_Win window;
  MPI_Comm node;
  char* buffer;
  MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Win_allocate_shared(large, 1, MPI_INFO_NULL, node, &buffer, &window);
  for (unsigned i = 0; i < 3; i++) {
    if (late_message(buffer, large, i)) expect_filled(buffer, large, i);
  }
  MPI_Win_free(&window);
  MPI_Comm_free(&node);
}

static const Case cases[] = {
    CASE(static_memory, 2),  CASE(stack_memory, 2),          CASE(heap_memory_below_the_mapping_threshold, 2),
    CASE(aligned_memory, 2), CASE(mapped_private_memory, 2), CASE(mapped_shared_memory, 2),
    CASE(mapped_file, 2),    CASE(allocated_by_mpi, 2),      CASE(memory_of_a_shared_window, 2)};
SUITE(cases)
