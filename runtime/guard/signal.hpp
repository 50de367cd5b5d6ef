// The process's SIGSEGV handler: gives the guard every fault first and the rest to the handler that the program has asked for,
// before or after this one came (page-guard rule 10).
//
// While there is a guard the program's action for SIGSEGV is virtual: kept here, told to the program when it asks, and obeyed
// for every SIGSEGV that is not the guard's as the kernel would obey it. The program's handler is entered with the very stack
// frame that the kernel made, so that unwinding, siglongjmp and small alternate stacks work as ever.
//
// While the guard answers, every other signal is blocked, because a signal handler of the application on top of it could
// touch a guarded page while this thread is inside the engine. When some wait to be let in, the guard returns to the
// instruction: they come on top of it, as if it had not begun, and it touches the page again when they have returned. Nothing of
// Sluice's is on the stack below them then, so they may as well not return: siglongjmp, exceptions, pthread_exit, cancellation.
#pragma once

#include <csignal>
#include <cstdint>

#include "runtime/base/types.hpp"

namespace sluice::fault_signal {

struct Fault {
  std::uintptr_t address = 0;
  Access access = Access::write;
  const sigset_t* mask = nullptr;  // of the interrupted thread
  std::uintptr_t instruction = 0;  // that touched it
  bool on_stack = false;           // the handler runs on the interrupted stack, or on one from which it can be unwound
};

/// Answers a fault: true when the instruction is to be tried again, false when it is none of Sluice's.
class Answerer {
 public:
  virtual bool answer(const Fault& fault) = 0;

 protected:
  ~Answerer() = default;
};

/// The C library's functions, for a library in which their names are wrappers. Before the first `install`.
struct Calls {
  int (*action)(int, const struct sigaction*, struct sigaction*);
  int (*mask)(int, const sigset_t*, sigset_t*);
};
void use(const Calls& calls);

/// Signal masks are translated (signal_mask.hpp) from now on, for good. Threads that are made before can be out of reach, so this
/// comes before the host's MPI_Init makes its own.
void translate_masks();

/// One answerer at a time. Translates masks.
void install(Answerer& answerer);
/// Puts the program's action back, if the signal still is ours, and returns when no thread is inside the answerer any more.
void remove();
/// The handler is in place.
[[nodiscard]] bool in_place();
/// The same, and no thread has SIGSEGV blocked since before `install`.
[[nodiscard]] bool installed();
/// The handler is in place and the calling thread does not block its signal.
[[nodiscard]] bool reaches_this_thread();

/// Signals are pending that the return to the interrupted code will let in, or another thread's. A system call.
[[nodiscard]] bool signals_wait(const Fault& fault);

/// Masks are translated. One relaxed load. [any thread]
[[nodiscard]] bool masks_are_translated();
/// sigaction for SIGSEGV and its stand-in; -1 and errno when that fails. [any thread, signal handlers]
int program_action(int signal, const struct sigaction* wanted, struct sigaction* old);
/// What the program would have SIGSEGV do in a process that it becomes: exec keeps only what is ignored, and masks.
[[nodiscard]] bool program_ignores_faults();

/// Blocks what an application may handle at any time, for held_signals; what a thread does to itself still comes through. Returns
/// the mask from before.
sigset_t block_for_engine();
/// Blocks everything for threads of Sluice's own; their faults still come through. Returns the mask from before.
sigset_t block_for_own_threads();
void restore_mask(const sigset_t& mask);

}  // namespace sluice::fault_signal
