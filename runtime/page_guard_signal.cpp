#include "runtime/page_guard_signal.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "runtime/clock.hpp"

namespace sluice::fault_signal {
namespace {

/// Bit of the x86 page-fault error code: the access was the fetch of an instruction, which no guarded page holds.
constexpr greg_t fault_was_fetch = 16;
/// A thread that left the handler by longjmp is counted as inside for ever.
constexpr std::uint64_t longest_wait_ns = 1'000'000'000;

std::atomic<Answerer*> current{nullptr};
std::atomic<unsigned> inside{0};  // threads between taking `current` and being done with it
struct sigaction previous;        // written by install before the handler is in place, read by the handler

bool answered(const siginfo_t& information, const ucontext_t& interrupted) {
  // Only faults of the page tables are the guard's: not signals that were sent, non-canonical addresses or protection keys.
  if (information.si_code != SEGV_MAPERR && information.si_code != SEGV_ACCERR) return false;
  if ((interrupted.uc_mcontext.gregs[REG_ERR] & fault_was_fetch) != 0) return false;
  Fault fault;
  fault.address = reinterpret_cast<std::uintptr_t>(information.si_addr);
  fault.mask = &interrupted.uc_sigmask;
  inside.fetch_add(1, std::memory_order_seq_cst);
  Answerer* answerer = current.load(std::memory_order_seq_cst);
  const bool ours = answerer && answerer->answer(fault);
  inside.fetch_sub(1, std::memory_order_release);
  return ours;
}

/// What the kernel would have done with this signal without Sluice.
void pass_on(int signal, siginfo_t* information, void* context) {
  const auto* interrupted = static_cast<ucontext_t*>(context);
  const bool sent = information->si_code <= 0;
  const bool plain = (previous.sa_flags & SA_SIGINFO) == 0;
  if (plain && previous.sa_handler == SIG_IGN && sent) return;
  if (plain && (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN)) {
    // The faulting instruction runs again and dies there, so that a core dump shows it and not this handler.
    struct sigaction fatal_action {};
    fatal_action.sa_handler = SIG_DFL;
    sigaction(SIGSEGV, &fatal_action, nullptr);
    if (sent) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);  // pending until this handler returns
    return;
  }
  sigset_t mask = interrupted->uc_sigmask;
  for (int other = 1; other < NSIG; ++other) {
    if (sigismember(&previous.sa_mask, other) == 1) sigaddset(&mask, other);
  }
  if ((previous.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, SIGSEGV);
  const auto handler = previous.sa_handler;
  const auto handler_with_information = previous.sa_sigaction;
  if ((previous.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    previous.sa_flags &= ~SA_SIGINFO;
    previous.sa_handler = SIG_DFL;
  }
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  plain ? handler(signal) : handler_with_information(signal, information, context);
}

void on_fault(int signal, siginfo_t* information, void* context) {
  const int saved_errno = errno;
  const bool ours = answered(*information, *static_cast<ucontext_t*>(context));
  errno = saved_errno;
  if (!ours) pass_on(signal, information, context);
}

}  // namespace

void install(Answerer& answerer) {
  current.store(&answerer, std::memory_order_seq_cst);
  sigaction(SIGSEGV, nullptr, &previous);
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  // A handler for stack overflow needs the alternate stack; without one, frames on the thread's own stack are roomier.
  ours.sa_flags = SA_SIGINFO | SA_RESTART | (previous.sa_flags & SA_ONSTACK);
  sigfillset(&ours.sa_mask);
  sigaction(SIGSEGV, &ours, nullptr);
}

void remove() {
  if (installed()) sigaction(SIGSEGV, &previous, nullptr);
  current.store(nullptr, std::memory_order_seq_cst);
  const std::uint64_t start = now_ns();
  while (inside.load(std::memory_order_seq_cst) != 0 && now_ns() - start < longest_wait_ns) sched_yield();
}

bool installed() {
  struct sigaction now {};
  return sigaction(SIGSEGV, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault;
}

void let_signals_in(const Fault& fault) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, fault.mask, &blocked);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

}  // namespace sluice::fault_signal
