// A program with a SIGSEGV handler of its own, which blocks SIGSEGV here and there, and receives large messages.
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>

#include "hostile.h"

static char* const nowhere = (char*)0x1000;

static sigjmp_buf escape;
static volatile sig_atomic_t handled;
static void* volatile handled_address;
static volatile int handled_code;
static volatile sig_atomic_t blocked_in_handler;
static volatile sig_atomic_t on_alternate_stack;

static int is_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  return sigismember(&mask, signal);
}

static void record(siginfo_t* information) {
  stack_t stack;
  sigaltstack(NULL, &stack);
  handled++;
  handled_address = information ? information->si_addr : NULL;
  handled_code = information ? information->si_code : 0;
  blocked_in_handler = is_blocked(SIGSEGV) + 2 * is_blocked(SIGUSR1) + 4 * is_blocked(SIGUSR2);
  on_alternate_stack = (stack.ss_flags & SS_ONSTACK) != 0;
}

static void on_fault(int signal, siginfo_t* information, void* context) {
  (void)signal, (void)context;
  record(information);
  siglongjmp(escape, 1);
}

static void on_sent(int signal, siginfo_t* information, void* context) {
  (void)signal, (void)context;
  record(information);
}

static void on_plain(int signal) {
  (void)signal;
  record(NULL);
  siglongjmp(escape, 1);
}

static struct sigaction default_action;

static void handle(void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
  sigaddset(&action.sa_mask, SIGUSR2);
  sigaction(SIGSEGV, &action, NULL);
  handled = 0;
}

static void wild_store(void) {
  if (sigsetjmp(escape, 1) == 0) *(volatile char*)nowhere = 1;
}

static void note_action(void) {
  const int kernel_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | (int)SA_RESETHAND;
  struct sigaction now;
  sigaction(SIGSEGV, NULL, &now);
  note("%s flags %x masks %d%d%d",
       now.sa_handler == SIG_DFL      ? "default"
       : now.sa_handler == SIG_IGN    ? "ignored"
       : now.sa_sigaction == on_fault ? "own"
       : now.sa_handler == on_plain   ? "plain"
                                      : "other",
       (unsigned)(now.sa_flags & kernel_flags), sigismember(&now.sa_mask, SIGSEGV), sigismember(&now.sa_mask, SIGUSR1),
       sigismember(&now.sa_mask, SIGUSR2));
}

// Whatever the program's handler is, it is told its own, and gets its own faults.
static void handlers_of_all_kinds(void) {
  static const int kinds[] = {0, SA_NODEFER, (int)SA_RESETHAND, SA_RESTART, SA_NODEFER | (int)SA_RESETHAND, SA_ONSTACK};
  char* buffer = allocate(large);
  for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    handle(on_fault, kinds[i]);
    if (late(buffer, large, i)) {
      expect_filled(buffer, large, i);
      EXPECT_EQ(handled, 0);
      note_action();
      wild_store();
      EXPECT_EQ(handled, 1);
      EXPECT(handled_address == nowhere, "address %p", handled_address);
      note("code %d mask %d", handled_code, blocked_in_handler);
      note_action();
    }
  }
  sigaction(SIGSEGV, &default_action, NULL);
  note_action();
  signal(SIGSEGV, on_plain);
  note_action();
  handled = 0;
  if (late(buffer, large, 9)) {
    expect_filled(buffer, large, 9);
    wild_store();
    wild_store();
    EXPECT_EQ(handled, 2);
  }
  EXPECT(signal(SIGSEGV, SIG_IGN) == on_plain, "signal does not return the handler from before");
  note_action();
  if (late(buffer, large, 10)) {
    raise(SIGSEGV);
    expect_filled(buffer, large, 10);
  }
  EXPECT(signal(SIGSEGV, SIG_DFL) == SIG_IGN, "signal does not return SIG_IGN");
  note_action();
  free(buffer);
}

static void handler_and_data_by_turns(void) {
  char* buffer = allocate(large);
  handle(on_fault, 0);
  for (unsigned i = 0; i < 5; i++) {
    if (late(buffer, large, i)) {
      wild_store();
      EXPECT_EQ(buffer[large / 2], buffer[large / 2]);
      for (int k = 0; k < 50; k++) wild_store();
      expect_filled(buffer, large, i);
      EXPECT_EQ(handled, 51 * (int)(i + 1));
    }
  }
  sigaction(SIGSEGV, &default_action, NULL);
  free(buffer);
}

static void blocked_by_the_receiver(void) {
  char* buffer = allocate(large);
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGSEGV);
  pthread_sigmask(SIG_BLOCK, &set, &old);
  if (late(buffer, large, 1)) expect_filled(buffer, large, 1);
  note("blocked %d before %d", is_blocked(SIGSEGV), sigismember(&old, SIGSEGV));
  sigfillset(&set);
  sigprocmask(SIG_SETMASK, &set, NULL);
  if (late(buffer, large, 2)) expect_filled(buffer, large, 2);
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  for (int i = 1; i < 32; i++) note("%d", sigismember(&now, i));
  sigprocmask(SIG_SETMASK, &old, NULL);
  note("blocked %d", is_blocked(SIGSEGV));
  free(buffer);
}

struct Job {
  char* buffer;
  unsigned seed;
  int blocked;
};

static void* touch(void* argument) {
  struct Job* job = argument;
  job->blocked = is_blocked(SIGSEGV);
  expect_filled(job->buffer, large, job->seed);
  return NULL;
}

static void blocked_in_threads(void) {
  char* buffer = allocate(large);
  sigset_t all, old;
  sigfillset(&all);
  for (unsigned i = 0; i < 4; i++) {
    if (late(buffer, large, i)) {
      struct Job job = {buffer, i, -1};
      pthread_t thread;
      pthread_attr_t attributes;
      pthread_attr_init(&attributes);
      if (i % 2 == 0) {
        pthread_sigmask(SIG_SETMASK, &all, &old);  // the usual way to keep signals away from threads
        pthread_create(&thread, &attributes, touch, &job);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
      } else {
        sigset_t told;
        pthread_attr_setsigmask_np(&attributes, &all);
        pthread_attr_getsigmask_np(&attributes, &told);
        note("attribute %d", sigismember(&told, SIGSEGV));
        pthread_create(&thread, &attributes, touch, &job);
      }
      pthread_join(thread, NULL);
      pthread_attr_destroy(&attributes);
      note("blocked %d", job.blocked);
    }
  }
  free(buffer);
}

static char* read_by_handler;
static volatile int sum_in_handler;

static void read_in_handler(int signal) {
  (void)signal;
  blocked_in_handler = is_blocked(SIGSEGV);
  int sum = 0;
  for (int i = 0; i < large; i += 1000) sum += read_by_handler[i];
  sum_in_handler = sum;
}

static int sum_of(const char* buffer) {
  int sum = 0;
  for (int i = 0; i < large; i += 1000) sum += buffer[i];
  return sum;
}

// A handler during which everything is blocked, while ordinary code runs and in calls that take a mask.
static void handlers_with_full_masks(void) {
  char* buffer = allocate(large);
  char* wanted = allocate(large);
  struct sigaction action = {.sa_handler = read_in_handler}, old, told;
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, &old);
  sigaction(SIGUSR1, NULL, &told);
  note("mask %d%d", sigismember(&told.sa_mask, SIGSEGV), sigismember(&told.sa_mask, SIGTERM));
  read_by_handler = buffer;
  sigset_t only, before, during;
  sigemptyset(&only);
  sigaddset(&only, SIGUSR1);
  sigfillset(&during);
  sigdelset(&during, SIGUSR1);
  for (unsigned i = 0; i < 4; i++) {
    fill(wanted, large, i);
    if (late(buffer, large, i)) {
      sum_in_handler = 0;
      sigprocmask(SIG_BLOCK, &only, &before);
      raise(SIGUSR1);
      if (i == 0) sigprocmask(SIG_SETMASK, &before, NULL);
      if (i == 1) sigsuspend(&during);
      if (i == 2) ppoll(NULL, 0, &(struct timespec){5, 0}, &during);
      if (i == 3) pselect(0, NULL, NULL, NULL, &(struct timespec){5, 0}, &during);
      sigprocmask(SIG_SETMASK, &before, NULL);
      EXPECT_EQ(sum_in_handler, sum_of(wanted));
      note("blocked in handler %d, after %d", blocked_in_handler, is_blocked(SIGSEGV));
      expect_filled(buffer, large, i);
    }
  }
  sigaction(SIGUSR1, &old, NULL);
  free(wanted);
  free(buffer);
}

// A SIGSEGV that is sent waits while it is blocked, and can be fetched.
static void sent_while_blocked(void) {
  char* buffer = allocate(large);
  sigset_t only, old, pending, none;
  siginfo_t information;
  sigemptyset(&none);
  sigemptyset(&only);
  sigaddset(&only, SIGSEGV);
  handle(on_sent, 0);
  if (late(buffer, large, 1)) {
    sigprocmask(SIG_BLOCK, &only, &old);
    raise(SIGSEGV);
    raise(SIGSEGV);  // once is as good as twice
    expect_filled(buffer, large, 1);
    EXPECT_EQ(handled, 0);
    sigpending(&pending);
    note("pending %d", sigismember(&pending, SIGSEGV));
    note("waited for %d", sigwaitinfo(&only, &information) == SIGSEGV && information.si_signo == SIGSEGV);
    sigprocmask(SIG_SETMASK, &old, NULL);
    EXPECT_EQ(handled, 0);
    note("errno %d", information.si_errno);
    pthread_sigqueue(pthread_self(), SIGSEGV, (union sigval){7});
    EXPECT_EQ(handled, 1);
    sigprocmask(SIG_BLOCK, &only, &old);
    raise(SIGSEGV);
    EXPECT_EQ(handled, 1);
    sigsuspend(&none);
    EXPECT_EQ(handled, 2);
    sigpending(&pending);
    note("pending %d", sigismember(&pending, SIGSEGV));
    sigprocmask(SIG_SETMASK, &old, NULL);
  }
  sigaction(SIGSEGV, &default_action, NULL);
  free(buffer);
}

// A jump out of the handler brings the mask back that sigsetjmp saw, whichever that was.
static void jumps_bring_masks_back(void) {
  char* buffer = allocate(large);
  handle(on_fault, 0);
  if (late(buffer, large, 1)) {
    for (int k = 0; k < 3; k++) {
      wild_store();
      note("%d", is_blocked(SIGSEGV));
    }
    expect_filled(buffer, large, 1);
    EXPECT_EQ(handled, 3);
  }
  sigaction(SIGSEGV, &default_action, NULL);
  free(buffer);
}

enum { canary = 0x5a };

static volatile int deepest;

// Not a loop, whatever the compiler thinks of it.
static int __attribute__((noinline)) overflow(int depth) {
  volatile char frame[1000];
  frame[depth % 1000] = (char)depth;
  deepest = depth;
  return overflow(depth + 1) + frame[(depth + 1) % 1000];
}

// A handler for stack overflow, on an alternate stack that is just large enough for it, and nothing written below that.
static void stack_overflow(void) {
  char* buffer = allocate(large);
  const size_t bytes = (size_t)sysconf(_SC_MINSIGSTKSZ) + 2048;
  unsigned char* area = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(area, canary, 16 * page);
  stack_t stack = {.ss_sp = area + 15 * page - bytes, .ss_size = bytes}, old;
  struct rlimit limit, small;
  getrlimit(RLIMIT_STACK, &limit);
  small = limit;
  small.rlim_cur = 1 << 20;
  setrlimit(RLIMIT_STACK, &small);
  EXPECT_EQ(sigaltstack(&stack, &old), 0);
  handle(on_fault, SA_ONSTACK);
  for (unsigned i = 0; i < 3; i++) {
    if (late(buffer, large, i)) {
      expect_filled(buffer, large, i);
      EXPECT_EQ(handled, (int)i);
      if (sigsetjmp(escape, 1) == 0) overflow(0);
      EXPECT_EQ(handled, (int)i + 1);
      EXPECT_EQ(on_alternate_stack, 1);
    }
  }
  for (size_t k = 0; k < 15 * page - bytes; k++) {
    if (area[k] != canary) {
      EXPECT(0, "%zu bytes below the alternate stack were written", 15 * page - bytes - k);
      break;
    }
  }
  sigaltstack(&old, NULL);
  setrlimit(RLIMIT_STACK, &limit);
  sigaction(SIGSEGV, &default_action, NULL);
  munmap(area, 16 * page);
  free(buffer);
}

// A handler's stack ends in the page in which a buffer begins.
static void stack_beside_a_buffer(void) {
  const size_t bytes = 16 * page + margin;
  char* memory = map(bytes + large + page);
  char* buffer = memory + bytes;
  stack_t stack = {.ss_sp = memory, .ss_size = bytes}, none = {.ss_flags = SS_DISABLE};
  struct sigaction action = {.sa_sigaction = on_sent, .sa_flags = SA_SIGINFO | SA_ONSTACK}, old_action;
  sigaction(SIGUSR1, &action, &old_action);
  for (unsigned i = 0; i < 6; i++) {
    if (i % 3 == 0) sigaltstack(&stack, NULL);
    const int received = late(buffer, large, i);
    if (i % 3 == 1) sigaltstack(&stack, NULL);
    handled = on_alternate_stack = 0;
    raise(SIGUSR1);
    EXPECT_EQ(handled, 1);
    EXPECT_EQ(on_alternate_stack, i % 3 != 2);
    if (received) expect_filled(buffer, large, i);
    sigaltstack(&none, NULL);
  }
  sigaction(SIGUSR1, &old_action, NULL);
  munmap(memory, bytes + large + page);
}

static const Case cases[] = {CASE(handlers_of_all_kinds, 2),    CASE(handler_and_data_by_turns, 2),
                             CASE(blocked_by_the_receiver, 2),  CASE(blocked_in_threads, 2),
                             CASE(handlers_with_full_masks, 2), CASE(sent_while_blocked, 2),
                             CASE(jumps_bring_masks_back, 2),   CASE(stack_overflow, 2),
                             CASE(stack_beside_a_buffer, 2)};

// With SIGSEGV_BEFORE_INIT set, the program has its handler and blocks SIGSEGV before MPI_Init as well.
int main(int argc, char** argv) {
  if (getenv("SIGSEGV_BEFORE_INIT")) {
    handle(on_fault, SA_NODEFER);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGSEGV);
    sigprocmask(SIG_BLOCK, &only, NULL);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    running = "before_init";
    char* buffer = allocate(large);
    if (late(buffer, large, 1)) expect_filled(buffer, large, 1);
    note_action();
    note("blocked %d", is_blocked(SIGSEGV));
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    if (late(buffer, large, 2)) {
      wild_store();
      expect_filled(buffer, large, 2);
      EXPECT_EQ(handled, 1);
    }
    free(buffer);
    sigaction(SIGSEGV, &default_action, NULL);
    print_notes(running);
  } else {
    MPI_Init(&argc, &argv);
  }
  run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
  const int failed = verdict();
  MPI_Finalize();
  return failed;
}
