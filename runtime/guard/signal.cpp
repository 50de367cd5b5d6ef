#include "runtime/guard/signal.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>

#include "runtime/guard/blocked_signals.hpp"
#include "runtime/process/blocked_threads.hpp"
#include "runtime/process/cancellation.hpp"
#include "runtime/process/fault_stack.hpp"
#include "runtime/process/signal_mask.hpp"

namespace sluice::fault_signal {
namespace {

using signal_mask::stand_in;

/// Bits of the x86 page-fault error code: the access was a write; it was the fetch of an instruction, which no guarded page
/// holds.
constexpr greg_t fault_was_write = 2;
constexpr greg_t fault_was_fetch = 16;
/// Blocked in the handler: everything, the C library's signal for cancellation as well. What setuid asks of all threads is not.
constexpr signal_mask::Bits in_handler = signal_mask::everything & ~signal_mask::bit(signal_mask::cancellation + 1);
/// In si_errno of a SIGSEGV that was sent on as the stand-in.
constexpr int sent_on = 0x536c7563;

constinit Calls calls{&::sigaction, &::pthread_sigmask};
std::atomic<Answerer*> current{nullptr};
std::atomic<unsigned> inside{0};  // threads between taking `current` and being done with it
std::atomic<bool> translated{false};
std::atomic<bool> blocked_elsewhere{false};
std::atomic<unsigned> times_asked{0};
pid_t owner = 0;  // a child of vfork has this memory and signal actions of its own

/// What the program wants of SIGSEGV and of the stand-in. Under `ActionsLock`.
struct sigaction fault_action;
struct sigaction stand_in_action;
constinit std::atomic<bool> actions_locked{false};

/// Taken with all signals blocked, so that no handler meets it held by the thread that it interrupted. A leaf.
class ActionsLock {
 public:
  ActionsLock() {
    const sigset_t all = signal_mask::set_of(signal_mask::everything);
    calls.mask(SIG_BLOCK, &all, &before_);
    while (actions_locked.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  ~ActionsLock() {
    actions_locked.store(false, std::memory_order_release);
    calls.mask(SIG_SETMASK, &before_, nullptr);
  }
  ActionsLock(const ActionsLock&) = delete;
  ActionsLock& operator=(const ActionsLock&) = delete;

 private:
  sigset_t before_{};
};

struct sigaction& action_of(int signal) {
  return signal == SIGSEGV ? fault_action : stand_in_action;
}

bool is_handler(const struct sigaction& action) { return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN; }

// --- the guard's part -------------------------------------------------------------------------------------------------

struct Question {
  Fault fault;
  bool answer = false;
};

void ask(void* question) {
  auto& asked = *static_cast<Question*>(question);
  inside.fetch_add(1, std::memory_order_seq_cst);
  Answerer* answerer = current.load(std::memory_order_seq_cst);
  asked.answer = answerer && answerer->answer(asked.fault);
  inside.fetch_sub(1, std::memory_order_release);
}

bool answered(const siginfo_t& information, const ucontext_t& interrupted) {
  // Only faults of the page tables are the guard's: not signals that were sent, non-canonical addresses or protection keys.
  if (information.si_code != SEGV_MAPERR && information.si_code != SEGV_ACCERR) return false;
  if ((interrupted.uc_mcontext.gregs[REG_ERR] & fault_was_fetch) != 0) return false;
  const held_signals::AlreadyBlocked blocked;
  cancellation::Deferral not_cancelled;
  not_cancelled.begin();
  Question question;
  question.fault.mask = &interrupted.uc_sigmask;
  question.fault.address = reinterpret_cast<std::uintptr_t>(information.si_addr);
  question.fault.access = (interrupted.uc_mcontext.gregs[REG_ERR] & fault_was_write) != 0 ? Access::write : Access::read;
  question.fault.instruction = static_cast<std::uintptr_t>(interrupted.uc_mcontext.gregs[REG_RIP]);
  if (fault_stack::is_cramped(interrupted.uc_stack)) {
    fault_stack::run(ask, &question);
  } else {
    question.fault.on_stack = true;
    ask(&question);
  }
  return question.answer;
}

// --- the program's part: what the kernel would have done without Sluice ------------------------------------------------

/// What the handler's entry keeps of its arguments; what is changed here reaches the program's handler.
struct Arguments {
  std::int64_t signal;
  siginfo_t* information;
  ucontext_t* context;
};
using Handler = void (*)();

/// The faulting instruction runs again and dies there, so that a core dump shows it and not this handler. A signal that was
/// sent is pending until the handler returns.
void die_of(int signal, bool sent) {
  struct sigaction fatal_action {};
  fatal_action.sa_handler = SIG_DFL;
  calls.action(signal, &fatal_action, nullptr);
  if (sent) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

/// It stays pending, for the thread or for the process as it was, until somebody lets it in.
void keep_waiting(siginfo_t& information) {
  information.si_errno = sent_on;
  if (information.si_code == SI_TKILL) {
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), stand_in, &information);
  } else {
    syscall(SYS_rt_sigqueueinfo, getpid(), stand_in, &information);
  }
}

struct sigaction take_action(int signal) {
  const ActionsLock lock;
  struct sigaction& action = action_of(signal);
  const struct sigaction taken = action;
  if ((taken.sa_flags & static_cast<int>(SA_RESETHAND)) != 0 && is_handler(taken)) action.sa_handler = SIG_DFL;
  return taken;
}

Handler program_handler(Arguments& arguments) {
  siginfo_t& information = *arguments.information;
  const bool sent = information.si_code <= 0;
  signal_mask::Bits mask = signal_mask::load(arguments.context->uc_sigmask);
  if (arguments.signal == SIGSEGV && (mask & signal_mask::bit(stand_in)) != 0) {
    sent ? keep_waiting(information) : die_of(SIGSEGV, false);
    return nullptr;
  }
  if (arguments.signal == stand_in && sent && information.si_errno == sent_on) {
    // It came through, so it is not blocked, whatever mask the interrupted call (sigsuspend) is to bring back.
    arguments.signal = information.si_signo = SIGSEGV;
    information.si_errno = 0;
  }
  const int signal = static_cast<int>(arguments.signal);
  const struct sigaction action = take_action(signal);
  if (action.sa_handler == SIG_IGN && sent) return nullptr;
  if (!is_handler(action)) {
    die_of(signal, sent);
    return nullptr;
  }
  mask |= signal_mask::for_kernel(signal_mask::load(action.sa_mask));
  if ((action.sa_flags & SA_NODEFER) == 0) mask |= signal_mask::bit(stand_in);
  const sigset_t during = signal_mask::set_of(mask);
  calls.mask(SIG_SETMASK, &during, nullptr);
  return reinterpret_cast<Handler>(action.sa_handler);
}

}  // namespace

/// Called by the handler's entry: the program's handler to go on to, or nullptr to return to the interrupted code.
extern "C" Handler sluice_choose_handler(Arguments* arguments);
extern "C" Handler sluice_choose_handler(Arguments* arguments) {
  const int saved_errno = errno;
  const bool ours = arguments->signal == SIGSEGV && answered(*arguments->information, *arguments->context);
  Handler next = ours ? nullptr : program_handler(*arguments);
  errno = saved_errno;
  return next;
}

// The entry keeps its arguments, asks, and jumps to the program's handler with the stack as the kernel left it.
extern "C" [[gnu::visibility("hidden")]] void sluice_on_fault(int signal, siginfo_t* information, void* context);
asm(R"(
  .text
  .p2align 4
  .hidden sluice_on_fault
  .globl sluice_on_fault
  .type sluice_on_fault, @function
sluice_on_fault:
  .cfi_startproc
  endbr64
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  movq %rsp, %rdi
  call sluice_choose_handler
  popq %rdi
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdx
  .cfi_adjust_cfa_offset -8
  testq %rax, %rax
  jz 1f
  jmpq *%rax
1:
  ret
  .cfi_endproc
  .size sluice_on_fault, . - sluice_on_fault
)");

namespace {

// --- the actions that the kernel has --------------------------------------------------------------------------------------

bool is_ours(int signal) {
  struct sigaction now {};
  return calls.action(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == sluice_on_fault;
}

/// A handler for stack overflow needs the alternate stack; without one, frames on the thread's own stack are roomier. System
/// calls are interrupted as the program's handler asks. With the lock held.
void take_over(int signal) {
  const bool handled = is_handler(fault_action);
  struct sigaction ours {};
  ours.sa_sigaction = sluice_on_fault;
  ours.sa_flags = SA_SIGINFO | (fault_action.sa_flags & SA_ONSTACK) | (handled ? fault_action.sa_flags & SA_RESTART : SA_RESTART);
  signal_mask::store(ours.sa_mask, in_handler);
  calls.action(signal, &ours, nullptr);
}

}  // namespace

void use(const Calls& library) { calls = library; }

// The masks of handlers that are there already, and the mask of this thread.
void translate_masks() {
  if (translated.exchange(true, std::memory_order_relaxed)) return;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (signal == SIGSEGV || signal == stand_in || calls.action(signal, nullptr, &action) != 0 || !is_handler(action)) continue;
    const signal_mask::Bits mask = signal_mask::load(action.sa_mask);
    if (signal_mask::for_kernel(mask) == mask) continue;
    signal_mask::store(action.sa_mask, signal_mask::for_kernel(mask));
    calls.action(signal, &action, nullptr);
  }
  sigset_t mask{};
  calls.mask(SIG_SETMASK, nullptr, &mask);
  signal_mask::store(mask, signal_mask::for_kernel(signal_mask::load(mask)));
  calls.mask(SIG_SETMASK, &mask, nullptr);
}

void install(Answerer& answerer) {
  current.store(&answerer, std::memory_order_seq_cst);
  {
    const ActionsLock lock;
    owner = getpid();
    for (const int signal : {SIGSEGV, stand_in}) {
      if (!is_ours(signal)) calls.action(signal, nullptr, &action_of(signal));
      take_over(signal);
    }
  }
  translate_masks();
  times_asked.store(0, std::memory_order_relaxed);
  blocked_elsewhere.store(other_threads_block(SIGSEGV), std::memory_order_relaxed);
}

void remove() {
  {
    const ActionsLock lock;
    for (const int signal : {SIGSEGV, stand_in}) {
      if (is_ours(signal)) calls.action(signal, &action_of(signal), nullptr);
    }
  }
  current.store(nullptr, std::memory_order_seq_cst);
  while (inside.load(std::memory_order_seq_cst) != 0) sched_yield();
}

bool in_place() { return is_ours(SIGSEGV); }

bool installed() {
  if (blocked_elsewhere.load(std::memory_order_relaxed)) [[unlikely]] {
    // Perhaps only for a moment: the C library blocks everything while it makes a thread. Asked again ever more rarely.
    if (!std::has_single_bit(times_asked.fetch_add(1, std::memory_order_relaxed) + 1)) return false;
    blocked_elsewhere.store(other_threads_block(SIGSEGV), std::memory_order_relaxed);
  }
  return in_place() && !blocked_elsewhere.load(std::memory_order_relaxed);
}

bool reaches_this_thread() {
  sigset_t blocked{};
  return in_place() && calls.mask(SIG_SETMASK, nullptr, &blocked) == 0 && sigismember(&blocked, SIGSEGV) == 0;
}

bool signals_wait(const Fault& fault) {
  signal_mask::Bits pending = 0;
  syscall(SYS_rt_sigpending, &pending, sizeof pending);
  return (pending & ~signal_mask::load(*fault.mask)) != 0;
}

bool masks_are_translated() { return translated.load(std::memory_order_relaxed); }

int program_action(int signal, const struct sigaction* wanted, struct sigaction* old) {
  const struct sigaction asked = wanted ? *wanted : (struct sigaction){};  // may be memory under guard: not with the lock held
  struct sigaction before {};
  int result = 0;
  {
    const ActionsLock lock;
    struct sigaction& kept = action_of(signal);
    const bool ours = is_ours(signal);
    if (ours) before = kept;
    if (!ours || getpid() != owner) {
      result = calls.action(signal, wanted ? &asked : nullptr, ours ? nullptr : &before);
    } else if (wanted) {
      kept = asked;
      for (const int taken : {SIGSEGV, stand_in}) take_over(taken);
    }
  }
  if (result == 0 && old) *old = before;
  return result;
}

bool program_ignores_faults() {
  const ActionsLock lock;
  return is_ours(SIGSEGV) && fault_action.sa_handler == SIG_IGN;
}

sigset_t block_for_engine() {
  using signal_mask::bit;
  constexpr signal_mask::Bits own_doing =
      bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP) | bit(SIGABRT) | bit(SIGSYS) | bit(stand_in);
  const sigset_t others = signal_mask::set_of(signal_mask::everything & ~own_doing);
  sigset_t before{};
  calls.mask(SIG_BLOCK, &others, &before);
  return before;
}

sigset_t block_for_own_threads() {
  const sigset_t all = signal_mask::set_of(signal_mask::everything & ~signal_mask::bit(SIGSEGV));
  sigset_t before{};
  calls.mask(SIG_SETMASK, &all, &before);
  return before;
}

void restore_mask(const sigset_t& mask) { calls.mask(SIG_SETMASK, &mask, nullptr); }

}  // namespace sluice::fault_signal
