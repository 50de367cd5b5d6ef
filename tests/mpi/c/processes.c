// fork, exec and system with received buffers; signals; exits of children.
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "late.h"

static void expect_child_ended_well(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with wait status %x", status);
}

// In the child: 0 when the buffer holds the pattern.
static int holds_pattern(const char* buffer, size_t bytes, unsigned seed) {
  char* wanted = allocate(bytes);
  fill(wanted, bytes, seed);
  return memcmp(buffer, wanted, bytes) != 0;
}

static void child_reads_what_was_received(void) {
  char* buffer = allocate(large);
  for (unsigned i = 0; i < 3; i++) {
    if (late_message(buffer, large, i)) {
      const pid_t child = fork();
      if (child == 0) _exit(holds_pattern(buffer, large, i));
      expect_child_ended_well(child);
      expect_filled(buffer, large, i);
    }
  }
  free(buffer);
}

// What the child writes is the child's alone.
static void child_writes_while_parent_compares(void) {
  char* buffer = allocate(large);
  for (unsigned i = 0; i < 3; i++) {
    if (late_message(buffer, large, i)) {
      const pid_t child = fork();
      if (child == 0) {
        memset(buffer, 0xdd, large);
        pause_ms(3);
        for (int k = 0; k < large; k++) {
          if (buffer[k] != (char)0xdd) _exit(1);
        }
        _exit(0);
      }
      for (int k = 0; k < 3; k++) {
        expect_filled(buffer, large, i);
        pause_ms(1);
      }
      expect_child_ended_well(child);
      expect_filled(buffer, large, i);
    }
  }
  free(buffer);
}

// What the parent receives and writes after the fork is not the child's.
static void parent_receives_while_child_compares(void) {
  char* buffer = allocate(large);
  int ready[2];
  late_message(buffer, large, 1);
  EXPECT_EQ(pipe(ready), 0);
  if (rank == 1) {
    const pid_t child = fork();
    if (child == 0) {
      char byte;
      _exit(read(ready[0], &byte, 1) != 1 || holds_pattern(buffer, large, 1));
    }
    late_message(buffer, large, 2);
    expect_filled(buffer, large, 2);
    EXPECT_EQ(write(ready[1], "x", 1), 1);
    expect_child_ended_well(child);
  } else {
    late_message(buffer, large, 2);
  }
  close(ready[0]);
  close(ready[1]);
  free(buffer);
}

static void child_allocates_and_frees_much(void) {
  char* buffer = allocate(large);
  if (late_message(buffer, large, 5)) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 200; i++) {
        char* memory = allocate((size_t)(1000 * i + 1));
        memset(memory, i, (size_t)(1000 * i + 1));
        free(memory);
      }
      free(buffer);
      _exit(0);
    }
    expect_child_ended_well(child);
    expect_filled(buffer, large, 5);
  }
  free(buffer);
}

static void fork_and_exec(void) {
  char* buffer = allocate(large);
  for (unsigned i = 0; i < 2; i++) {
    if (late_message(buffer, large, i)) {
      const pid_t child = fork();
      if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 0", (char*)NULL);
        _exit(9);
      }
      expect_child_ended_well(child);
      expect_filled(buffer, large, i);
    }
  }
  free(buffer);
}

static void system_and_popen(void) {
  char* buffer = allocate(large);
  if (late_message(buffer, large, 3)) {
    EXPECT_EQ(system("true"), 0);
    expect_filled(buffer, large, 3);
  }
  if (late_message(buffer, large, 4)) {
    char word[16] = "";
    FILE* pipe = popen("echo hello", "r");
    EXPECT(fgets(word, sizeof word, pipe) && strcmp(word, "hello\n") == 0, "popen gave '%s'", word);
    EXPECT_EQ(pclose(pipe), 0);
    expect_filled(buffer, large, 4);
  }
  free(buffer);
}

static void messages_go_on_while_children_live(void) {
  char* buffer = allocate(large);
  const pid_t child = fork();
  if (child == 0) {
    pause_ms(20);
    _exit(0);
  }
  for (unsigned i = 0; i < 4; i++) {
    if (late_message(buffer, large, i)) expect_filled(buffer, large, i);
  }
  expect_child_ended_well(child);
  free(buffer);
}

// --- signals ---

static volatile sig_atomic_t alarms;
static void count_alarm(int signal) {
  (void)signal;
  alarms++;
}

static void timer_signals_during_receives(void) {
  struct sigaction action = {.sa_handler = count_alarm, .sa_flags = SA_RESTART}, old;
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
  const struct itimerspec every = {{0, 500000}, {0, 500000}};
  char* buffer = allocate(large);
  sigaction(SIGUSR2, &action, &old);
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &every, NULL);
  alarms = 0;
  for (unsigned i = 0; i < 8; i++) {
    if (late_message(buffer, large, i)) expect_filled(buffer, large, i);
  }
  timer_delete(timer);
  sigaction(SIGUSR2, &old, NULL);
  if (rank == 1) EXPECT(alarms > 0, "no signal came");
  free(buffer);
}

static const Case cases[] = {CASE(child_reads_what_was_received, 2),
                             CASE(child_writes_while_parent_compares, 2),
                             CASE(parent_receives_while_child_compares, 2),
                             CASE(child_allocates_and_frees_much, 2),
                             CASE(fork_and_exec, 2),
                             CASE(system_and_popen, 2),
                             CASE(messages_go_on_while_children_live, 2),
                             CASE(timer_signals_during_receives, 2)};
SUITE(cases)
