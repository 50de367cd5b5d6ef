// signals_wild: after each receive, a store to nowhere. It must kill rank 1 by SIGSEGV at the very instruction, as a debugger
// and a core file see it: a parent traces each rank and says where the last SIGSEGV came from. The ranks that send go on.
//   signals_wild HOW: default, blocked (the signal is blocked), sent (by raise)
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "hostile.h"

static const char* how;

static void __attribute__((noinline, noclone, section("wild_text"))) wild_store(void) { *(volatile char* volatile)0x1000 = 1; }
extern char __start_wild_text[], __stop_wild_text[];

static void run_rank(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  signal(SIGSEGV, SIG_DFL);  // the host has a handler that prints the stack
  char* buffer = map(large);
  for (unsigned i = 0; i < 3; i++) {
    if (late(buffer, large, i)) expect_filled(buffer, large, i);
  }
  if (failures) _exit(1);
  if (rank > 1 || !late(buffer, large, 4)) {
    pause_ms(500);
    _exit(0);
  }
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGSEGV);
  if (strcmp(how, "blocked") == 0) sigprocmask(SIG_BLOCK, &only, NULL);
  expect_filled(buffer, large / 2, 4);
  if (strcmp(how, "sent") == 0) raise(SIGSEGV);
  wild_store();
}

int main(int argc, char** argv) {
  how = argc > 1 ? argv[1] : "default";
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    run_rank(argc, argv);
    _exit(7);
  }
  unsigned long long last = 0;
  int status;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    if (WSTOPSIG(status) == SIGSEGV) {
      struct user_regs_struct registers;
      ptrace(PTRACE_GETREGS, child, NULL, &registers);
      last = registers.rip;
    }
    // exec would stop with SIGTRAP; nothing here does.
    ptrace(PTRACE_CONT, child, NULL, (long)WSTOPSIG(status));
  }
  const int killed = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const int at_store =
      last >= (unsigned long long)(uintptr_t)__start_wild_text && last < (unsigned long long)(uintptr_t)__stop_wild_text;
  if (strcmp(getenv("OMPI_COMM_WORLD_RANK"), "1") != 0) _exit(0);
  printf("CASE %s 1: killed by %d%s, exit code %d\n", how, killed, killed && at_store ? " at the store" : "",
         WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  fflush(stdout);
  _exit(0);
}
