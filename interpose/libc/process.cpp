// Calls that make processes, become one, or end this one (page-guard rule 11). Everything under guard is completed first:
//
// * The kernel reads the arguments and environment of exec, and does not wait for pages. They are strings of the heap, next to
//   whatever was received there.
// * The child that posix_spawn, system and popen make inside runs in this memory with all signal handlers reset.
// * What ends at once must not end ahead of a message that it would still be waiting for: its sender would miss it (rule 1).
//
// fork completes through its handlers (fork.cpp), exit through that of Session. With nothing under guard each call costs one load
// and a predictable branch more.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wordexp.h>

#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "interpose/libc/process.hpp"
#include "interpose/libc/signal.hpp"
#include "interpose/mpi/entry.hpp"
#include "interpose/session/fork.hpp"

namespace sluice {
namespace {

void settle_if_watching() {
  if (watching()) [[unlikely]]
    settle_everything();
}

/// For the time of a call that makes a new program: it starts with the mask and the ignored signals of its maker.
class RealSignals {
 public:
  RealSignals() {
    if (!fault_signal::masks_are_translated()) return;
    NEXT(pthread_sigmask)(SIG_SETMASK, nullptr, &before_);
    const signal_mask::Bits mask = signal_mask::load(before_);
    differs_ = signal_mask::for_program(mask) != mask;
    if (!differs_) return;
    const sigset_t real = signal_mask::set_of(signal_mask::for_program(mask));
    NEXT(pthread_sigmask)(SIG_SETMASK, &real, nullptr);
  }
  ~RealSignals() {
    if (differs_) NEXT(pthread_sigmask)(SIG_SETMASK, &before_, nullptr);
  }
  RealSignals(const RealSignals&) = delete;
  RealSignals& operator=(const RealSignals&) = delete;

 private:
  sigset_t before_{};
  bool differs_ = false;
};

/// The same for exec, whose new program also ignores SIGSEGV if this one does.
class RealActions {
 public:
  RealActions() : ignores_(fault_signal::program_ignores_faults()) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    if (ignores_) NEXT(sigaction)(SIGSEGV, &ignore, &before_);
  }
  ~RealActions() {
    if (ignores_) NEXT(sigaction)(SIGSEGV, &before_, nullptr);
  }
  RealActions(const RealActions&) = delete;
  RealActions& operator=(const RealActions&) = delete;

 private:
  bool ignores_;
  struct sigaction before_ {};
};

/// Returns only when the program could not be started.
template <typename Call>
int execute(Call&& call) {
  settle_if_watching();
  const RealSignals signals;
  const RealActions actions;
  return call();
}

/// The arguments of execl and its kin as an array. Like the C library's own, it lies on the stack: exec must work in the child
/// of a vfork.
#define SLUICE_ARGUMENTS_AFTER(first)                                              \
  va_list rest;                                                                    \
  va_start(rest, first);                                                           \
  std::size_t count = 1;                                                           \
  for (const char* word = first; word; ++count) word = va_arg(rest, const char*);  \
  va_end(rest);                                                                    \
  auto** arguments = static_cast<char**>(__builtin_alloca(count * sizeof(char*))); \
  va_start(rest, first);                                                           \
  arguments[0] = const_cast<char*>(first);                                         \
  for (std::size_t i = 1; i < count; ++i) arguments[i] = va_arg(rest, char*)

}  // namespace

/// While a thread is inside the engine and a signal handler of the application runs on top of it, waiting would be for ever.
void settle_before_the_end() {
  if (Engine::Memory::this_thread_is_inside()) return leave_at_once();
  settle_if_watching();
}

/// What vfork's entry does before it goes on to the C library's.
extern "C" void* sluice_before_vfork();
extern "C" void* sluice_before_vfork() {
  settle_if_watching();
  return reinterpret_cast<void*>(NEXT(vfork));
}

}  // namespace sluice

// A function that calls vfork may not return before the child is done, so this one jumps there.
asm(R"(
  .text
  .p2align 4
  .globl vfork
  .type vfork, @function
vfork:
  .cfi_startproc
  endbr64
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call sluice_before_vfork
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  jmpq *%rax
  .cfi_endproc
  .size vfork, . - vfork
  .globl __vfork
  .set __vfork, vfork
)");

extern "C" {

// --- becoming another program ---------------------------------------------------------------------------------------------

SLUICE_EXPORTED int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  return sluice::execute([&] { return NEXT(execve)(path, arguments, environment); });
}

SLUICE_EXPORTED int execv(const char* path, char* const* arguments) noexcept {
  return sluice::execute([&] { return NEXT(execv)(path, arguments); });
}

SLUICE_EXPORTED int execvp(const char* file, char* const* arguments) noexcept {
  return sluice::execute([&] { return NEXT(execvp)(file, arguments); });
}

SLUICE_EXPORTED int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
  return sluice::execute([&] { return NEXT(execvpe)(file, arguments, environment); });
}

SLUICE_EXPORTED int execveat(int directory, const char* path, char* const* arguments, char* const* environment,
                             int flags) noexcept {
  return sluice::execute([&] { return NEXT(execveat)(directory, path, arguments, environment, flags); });
}

SLUICE_EXPORTED int fexecve(int file, char* const* arguments, char* const* environment) noexcept {
  return sluice::execute([&] { return NEXT(fexecve)(file, arguments, environment); });
}

SLUICE_EXPORTED int execl(const char* path, const char* first, ...) noexcept {
  SLUICE_ARGUMENTS_AFTER(first);
  va_end(rest);
  return sluice::execute([&] { return NEXT(execv)(path, arguments); });
}

SLUICE_EXPORTED int execlp(const char* file, const char* first, ...) noexcept {
  SLUICE_ARGUMENTS_AFTER(first);
  va_end(rest);
  return sluice::execute([&] { return NEXT(execvp)(file, arguments); });
}

SLUICE_EXPORTED int execle(const char* path, const char* first, ...) noexcept {
  SLUICE_ARGUMENTS_AFTER(first);
  auto** environment = va_arg(rest, char**);
  va_end(rest);
  return sluice::execute([&] { return NEXT(execve)(path, arguments, environment); });
}

// --- making another process -----------------------------------------------------------------------------------------------

SLUICE_EXPORTED int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* files,
                                const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  sluice::settle_if_watching();
  const sluice::RealSignals signals;
  return NEXT(posix_spawn)(child, path, files, attributes, arguments, environment);
}

SLUICE_EXPORTED int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* files,
                                 const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  sluice::settle_if_watching();
  const sluice::RealSignals signals;
  return NEXT(posix_spawnp)(child, file, files, attributes, arguments, environment);
}

SLUICE_EXPORTED int system(const char* command) {
  sluice::settle_if_watching();
  const sluice::RealSignals signals;
  return NEXT(system)(command);
}

SLUICE_EXPORTED FILE* popen(const char* command, const char* mode) {
  sluice::settle_if_watching();
  const sluice::RealSignals signals;
  return NEXT(popen)(command, mode);
}

SLUICE_EXPORTED int wordexp(const char* words, wordexp_t* expansion, int flags) {
  sluice::settle_if_watching();
  const sluice::RealSignals signals;
  return NEXT(wordexp)(words, expansion, flags);
}

/// A fork without the handlers of pthread_atfork.
SLUICE_EXPORTED pid_t _Fork() noexcept {
  sluice::before_fork();
  const pid_t child = NEXT(_Fork)();
  child == 0 ? sluice::in_child_of_fork() : sluice::in_parent_of_fork();
  return child;
}

// --- ending this process --------------------------------------------------------------------------------------------------

SLUICE_EXPORTED void _exit(int status) {
  sluice::settle_before_the_end();
  for (;;) syscall(SYS_exit_group, status);
}
void _Exit(int) noexcept SLUICE_ALIAS_OF(_exit);

}  // extern "C"
