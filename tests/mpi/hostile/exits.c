// Ways out of a wait for a page other than its end: cancellation of the thread, a jump out of a signal handler, pthread_exit in
// one. Afterwards everything goes on: a later touch waits properly, as do MPI calls, and MPI_Finalize ends at once.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "hostile.h"

enum { rounds = 6 };

static char* buffer;
static _Atomic int readers_started, cleanups;

static long sum_of(const volatile char* bytes, size_t from) {
  long sum = 0;
  for (size_t i = from; i < large; i += 64) sum += bytes[i];
  return sum;
}

static void conclude(unsigned seed) {
  expect_filled(buffer, large, seed);
  note_bytes(buffer, large);
}

// --- cancellation ----------------------------------------------------------------------------------------------------------

static void note_cleanup(void* unused) {
  (void)unused;
  cleanups++;
}

static void* reads_for_ever(void* type) {
  int old;
  pthread_setcanceltype(*(int*)type, &old);
  pthread_cleanup_push(note_cleanup, NULL);
  readers_started++;
  for (;;) {
    sum_of(buffer, 0);
    if (*(int*)type == PTHREAD_CANCEL_DEFERRED) pthread_testcancel();
  }
  pthread_cleanup_pop(0);
  return NULL;
}

static void cancel_readers(int type, int threads) {
  for (unsigned i = 0; i < rounds; i++) {
    if (!late(buffer, large, i)) continue;
    pthread_t readers[4];
    readers_started = cleanups = 0;
    for (int t = 0; t < threads; t++) pthread_create(&readers[t], NULL, reads_for_ever, &type);
    while (readers_started != threads) pause_ms(1);
    for (int t = 0; t < threads; t++) {
      void* result = NULL;
      pthread_cancel(readers[t]);
      pthread_join(readers[t], &result);
      EXPECT(result == PTHREAD_CANCELED, "a thread ended by itself");
      EXPECT_EQ(cleanups, t + 1);
    }
    conclude(i);
  }
}

static void cancelled_asynchronously(void) { cancel_readers(PTHREAD_CANCEL_ASYNCHRONOUS, 1); }
static void several_cancelled_asynchronously(void) { cancel_readers(PTHREAD_CANCEL_ASYNCHRONOUS, 3); }
static void cancelled_at_a_point(void) { cancel_readers(PTHREAD_CANCEL_DEFERRED, 1); }

// --- signal handlers that do not return ---------------------------------------------------------------------------------------

static sigjmp_buf back;
static volatile sig_atomic_t armed, jumps;
static pthread_t jumper;

static void jump(int signal) {
  (void)signal;
  // A timer that runs out while this thread is in the handler is given to a thread of the host's, where nothing is to jump.
  if (!armed || !pthread_equal(pthread_self(), jumper)) return;
  armed = 0;
  jumps++;
  siglongjmp(back, 1);
}

static void end_thread(int signal) {
  (void)signal;
  pthread_exit((void*)7);
}

static void set_timer(long us) {
  const struct itimerval after = {{0, us}, {0, us}};
  setitimer(ITIMER_REAL, &after, NULL);
}

static void time_limited_reads(int flags) {
  struct sigaction action = {.sa_handler = jump, .sa_flags = flags}, old;
  jumper = pthread_self();
  sigaction(SIGALRM, &action, &old);
  for (unsigned i = 0; i < rounds; i++) {
    if (!late(buffer, large, i)) continue;
    for (int attempt = 0; attempt < 3; attempt++) {
      armed = 1;
      if (sigsetjmp(back, 1) == 0) {
        set_timer(1500);
        for (;;) sum_of(buffer, 0);
      }
      set_timer(0);
      int found;
      MPI_Iprobe(partner(), 77, WORLD, &found, IGNORE);
      sigset_t mask;
      sigprocmask(SIG_SETMASK, NULL, &mask);
      EXPECT(!sigismember(&mask, SIGALRM) && !sigismember(&mask, SIGUSR1), "signals stay blocked after the jump");
    }
    conclude(i);
  }
  set_timer(0);
  sigaction(SIGALRM, &old, NULL);
}

static void left_by_a_jump(void) { time_limited_reads(0); }

// The program has a handler for SIGSEGV on a stack of 8 KB, where the wait for a page begins as well.
static void fault_handler(int signal) { (void)signal, abort(); }
static void left_by_a_jump_with_a_small_alternate_stack(void) {
  static char memory[8192] __attribute__((aligned(4096)));
  const stack_t stack = {memory, 0, sizeof memory};
  stack_t no_stack;
  struct sigaction action = {.sa_handler = fault_handler, .sa_flags = SA_ONSTACK}, old;
  sigaltstack(&stack, &no_stack);
  sigaction(SIGSEGV, &action, &old);
  time_limited_reads(0);
  time_limited_reads(SA_ONSTACK);
  sigaction(SIGSEGV, &old, NULL);
  sigaltstack(&no_stack, NULL);
}

static void* reads_until_it_is_ended(void* unused) {
  (void)unused;
  pthread_cleanup_push(note_cleanup, NULL);
  readers_started++;
  for (;;) sum_of(buffer, 0);
  pthread_cleanup_pop(0);
  return NULL;
}

static void ended_in_a_handler(void) {
  struct sigaction action = {.sa_handler = end_thread}, old;
  sigaction(SIGUSR1, &action, &old);
  for (unsigned i = 0; i < rounds; i++) {
    if (!late(buffer, large, i)) continue;
    pthread_t reader;
    void* result = NULL;
    readers_started = cleanups = 0;
    pthread_create(&reader, NULL, reads_until_it_is_ended, NULL);
    while (readers_started != 1) pause_ms(1);
    pthread_kill(reader, SIGUSR1);
    pthread_join(reader, &result);
    EXPECT(result == (void*)7, "the thread ended otherwise");
    EXPECT_EQ(cleanups, 1);
    conclude(i);
  }
  sigaction(SIGUSR1, &old, NULL);
}

static void nothing_is_left_behind(void) {
  for (unsigned i = 0; i < rounds; i++) {
    if (late(buffer, large, 100 + i)) conclude(100 + i);
  }
}

static const Case cases[] = {CASE(cancelled_asynchronously, 2),
                             CASE(several_cancelled_asynchronously, 2),
                             CASE(cancelled_at_a_point, 2),
                             CASE(left_by_a_jump, 2),
                             CASE(left_by_a_jump_with_a_small_alternate_stack, 2),
                             CASE(ended_in_a_handler, 2),
                             CASE(nothing_is_left_behind, 2)};

// MPI_Finalize must not wait for threads that are gone.
int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  buffer = map(large);
  run_cases(cases, sizeof cases / sizeof cases[0], argc, argv);
  const int failed = verdict();
  MPI_Finalize();
  return failed;
}
