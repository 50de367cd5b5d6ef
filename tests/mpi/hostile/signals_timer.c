// A timer whose handler reads what was received last, while the program receives the next message.
#include <signal.h>
#include <sys/time.h>

#include "hostile.h"

enum { rounds = 60 };

static char* volatile shown;  // complete for the program, hence for the handler
static volatile unsigned shown_seed;
static volatile sig_atomic_t calls, wrong;

static void look(int signal) {
  (void)signal;
  if (!shown) return;
  const uint64_t word = pattern_word(shown_seed, large / 2 / 8);
  calls++;
  if (memcmp(shown + large / 2, &word, 8) != 0) wrong++;
}

static void handler_reads_what_was_received(void) {
  char* buffers[2] = {map(large), map(large)};
  struct sigaction action = {.sa_handler = look, .sa_flags = SA_RESTART}, old;
  const struct itimerval every = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  sigaction(SIGALRM, &action, &old);
  if (rank % 2 == 1) setitimer(ITIMER_REAL, &every, NULL);
  for (unsigned i = 0; i < rounds; i++) {
    char* buffer = buffers[i % 2];
    if (!late(buffer, large, i)) continue;
    sigset_t only, before;
    sigemptyset(&only);
    sigaddset(&only, SIGALRM);
    sigprocmask(SIG_BLOCK, &only, &before);
    shown = buffer;
    shown_seed = i;
    sigprocmask(SIG_SETMASK, &before, NULL);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  shown = NULL;
  sigaction(SIGALRM, &old, NULL);
  EXPECT_EQ(wrong, 0);
  if (rank % 2 == 1) EXPECT(calls > 0, "the handler was never called");
  for (int i = 0; i < 2; i++) munmap(buffers[i], large);
}

static const Case cases[] = {CASE(handler_reads_what_was_received, 2)};
SUITE(cases)
