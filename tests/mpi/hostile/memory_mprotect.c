// Protections that the program sets on buffers right after they were received, and expects to stay.
#include <setjmp.h>
#include <signal.h>

#include "hostile.h"

enum { bytes = 1 << 20, rounds = 5 };

// The kernel may not read (write) there, for all it takes.
static int readable(const char* at) {
  int ends[2];
  if (pipe(ends) != 0) MPI_Abort(WORLD, 9);
  const int yes = write(ends[1], at, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return yes;
}

static int writable(char* at) {
  const int file = open("/dev/zero", O_RDONLY);
  const int yes = read(file, at, 1) == 1;
  close(file);
  return yes;
}

static void read_only(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    const int received = late(buffer, bytes, i);
    EXPECT_EQ(mprotect(buffer, bytes, PROT_READ), 0);
    if (received) {
      expect_filled(buffer, bytes, i);
      pause_ms(14);
      expect_filled(buffer, bytes, i);
      note_bytes(buffer, bytes);
      for (int at = 0; at < bytes; at += 50 * page) EXPECT_EQ(writable(buffer + at), 0);
    }
    EXPECT_EQ(mprotect(buffer, bytes, PROT_READ | PROT_WRITE), 0);
    if (late(buffer, bytes, i + 10)) expect_filled(buffer, bytes, i + 10);
    munmap(buffer, bytes);
  }
}

static void nothing_at_all(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    const int received = late(buffer, bytes, i);
    EXPECT_EQ(mprotect(buffer, bytes, PROT_NONE), 0);
    pause_ms(14);
    for (int at = 0; received && at < bytes; at += 50 * page) EXPECT_EQ(readable(buffer + at), 0);
    EXPECT_EQ(mprotect(buffer, bytes, PROT_READ | PROT_WRITE), 0);
    if (received) expect_filled(buffer, bytes, i);
    munmap(buffer, bytes);
  }
}

static void a_part(void) {
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    const int received = late(buffer, bytes, i);
    EXPECT_EQ(mprotect(buffer + 30 * page, 10 * page, PROT_READ), 0);
    pause_ms(14);
    if (received) {
      expect_filled(buffer, bytes, i);
      EXPECT_EQ(writable(buffer + 35 * page), 0);
      EXPECT_EQ(writable(buffer + 50 * page), 1);
    }
    munmap(buffer, bytes);
  }
}

static void executable(void) {
  // Made executable between two receives, and executed after the second.
  static const unsigned char return_42[] = {0xb8, 42, 0, 0, 0, 0xc3};
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes);
    if (late(buffer, bytes, i)) expect_filled(buffer, bytes, i);
    if (mprotect(buffer, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 && late(buffer, bytes, i + 5)) {
      expect_filled(buffer, bytes, i + 5);
      memcpy(buffer + 100 * page, return_42, sizeof return_42);
      EXPECT_EQ(((int (*)(void))(void*)(buffer + 100 * page))(), 42);
    }
    munmap(buffer, bytes);
  }
}

static sigjmp_buf back;
static volatile sig_atomic_t faults;

static void on_fault(int signal) {
  faults++;
  siglongjmp(back, signal);
}

static void tail_page_of_a_neighbour(void) {
  // A guard page of the program's own right behind the buffer stays one.
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = map(bytes + page);
    EXPECT_EQ(mprotect(buffer + bytes, page, PROT_NONE), 0);
    if (late(buffer, bytes, i)) {
      expect_filled(buffer, bytes, i);
      EXPECT_EQ(readable(buffer + bytes), 0);
    }
    munmap(buffer, bytes + page);
  }
}

static void fault_on_its_own_read_only_page(void) {
  struct sigaction mine = {.sa_handler = on_fault}, before;
  char* buffer = map(bytes);
  const int received = late(buffer, bytes, 3);
  EXPECT_EQ(mprotect(buffer, bytes, PROT_READ), 0);
  sigaction(SIGSEGV, &mine, &before);
  faults = 0;
  if (received && sigsetjmp(back, 1) == 0) *(volatile char*)(buffer + 7 * page) = 1;
  EXPECT_EQ(faults, received);
  sigaction(SIGSEGV, &before, NULL);
  if (received) expect_filled(buffer, bytes, 3);
  munmap(buffer, bytes);
}

static const Case cases[] = {CASE(read_only, 2),  CASE(nothing_at_all, 2),           CASE(a_part, 2),
                             CASE(executable, 2), CASE(tail_page_of_a_neighbour, 2), CASE(fault_on_its_own_read_only_page, 2)};
SUITE(cases)
