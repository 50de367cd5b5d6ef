// Every kind of mapping as a receive buffer: shared, files, read-only neighbours, and buffers that span several of them.
#include "hostile.h"

enum { bytes = 1 << 20, rounds = 3 };

static void received_well(char* buffer, size_t count) {
  for (unsigned i = 0; i < rounds; i++) {
    if (late(buffer, (int)count, i)) {
      expect_filled(buffer, count, i);
      note_bytes(buffer, count);
    }
  }
}

static void shared_and_anonymous(void) {
  char* buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  received_well(buffer, bytes);
  munmap(buffer, bytes);
}

static void shared_file(void) {
  const int file = filled_file(bytes, 1);
  char* buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int received = late(buffer, bytes, 2);
  if (received) expect_file(file, bytes, 2);  // without a touch of the mapping
  received_well(buffer, bytes);
  munmap(buffer, bytes);
  close(file);
}

static void private_file(void) {
  const int file = filled_file(bytes, 1);
  char* buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  received_well(buffer, bytes);
  expect_file(file, bytes, 1);
  munmap(buffer, bytes);
  close(file);
}

static void file_mapped_twice(void) {
  const int file = filled_file(bytes, 1);
  char* buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  char* other = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (late(buffer, bytes, 4)) expect_filled(other, bytes, 4);
  munmap(buffer, bytes);
  munmap(other, bytes);
  close(file);
}

static void file_that_is_cut_short(void) {
  const int file = filled_file(bytes, 1);
  char* buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  EXPECT_EQ(ftruncate(file, bytes / 2), 0);
  received_well(buffer, bytes / 2);
  munmap(buffer, bytes);
  close(file);
}

static void several_kinds_in_one_buffer(void) {
  const int file = filled_file(bytes, 1);
  char* buffer = map(3 * bytes);
  mmap(buffer + bytes, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0);
  received_well(buffer + 500, 3 * bytes - 1000);
  mmap(buffer + bytes, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  received_well(buffer + 500, 3 * bytes - 1000);
  munmap(buffer, 3 * bytes);
  close(file);
}

static void between_read_only_pages(void) {
  char* region = map(bytes + 2 * page);
  mprotect(region, page, PROT_READ);
  mprotect(region + page + bytes, page, PROT_READ);
  received_well(region + page, bytes);
  expect_all(region, page, 0);
  expect_all(region + page + bytes, page, 0);
  munmap(region, bytes + 2 * page);
}

static char data[large] = {1};
static char zeros[large];
static const char constants[page] = {1, 2, 3};

static void static_data(void) {
  received_well(data, sizeof data);
  received_well(zeros, sizeof zeros);
  EXPECT_EQ(constants[2], 3);
}

static const Case cases[] = {CASE(shared_and_anonymous, 2),
                             CASE(shared_file, 2),
                             CASE(private_file, 2),
                             CASE(file_mapped_twice, 2),
                             CASE(file_that_is_cut_short, 2),
                             CASE(several_kinds_in_one_buffer, 2),
                             CASE(between_read_only_pages, 2),
                             CASE(static_data, 2)};
SUITE(cases)
