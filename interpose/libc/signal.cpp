// Signal actions and masks: while there is a guard, the program's action for SIGSEGV is a virtual one, and no mask that the
// kernel gets contains SIGSEGV (page-guard rule 10; runtime/guard/signal.hpp, runtime/process/signal_mask.hpp).
//
// The C library's older functions (signal, sigset, ...) call its own sigaction inside, past these wrappers; for SIGSEGV they are
// made here out of those that are wrapped. Until the first guard every wrapper costs one load and a predictable branch.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <pthread.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>

#include "interpose/libc/signal.hpp"
#include "interpose/mpi/entry.hpp"
#include "runtime/process/alternate_stacks.hpp"

// Old functions are for old programs.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace sluice {
namespace {

using signal_mask::stand_in;

bool is_virtual(int signal) { return fault_signal::masks_are_translated() && (signal == SIGSEGV || signal == stand_in); }

int action(int signal, const struct sigaction* wanted, struct sigaction* old) {
  if (is_virtual(signal)) return fault_signal::program_action(signal, wanted, old);
  struct sigaction translated {};
  if (wanted) {
    translated = *wanted;
    translated.sa_mask = *KernelMask(&wanted->sa_mask).get();
  }
  const int result = NEXT(sigaction)(signal, wanted ? &translated : nullptr, old);
  if (result == 0 && old) translate_back(&old->sa_mask);
  return result;
}

int change_mask(int (*change)(int, const sigset_t*, sigset_t*), int how, const sigset_t* wanted, sigset_t* old) {
  if (!fault_signal::masks_are_translated()) return change(how, wanted, old);
  // The kernel gets copies: it does not wait for pages under guard.
  const KernelMask mask(wanted);
  sigset_t before{};
  const int result = change(how, mask.get(), old ? &before : nullptr);
  if (result == 0 && old) signal_mask::store(*old, signal_mask::for_program(signal_mask::load(before)));
  return result;
}

/// sigaction in the manner of the older functions: returns the handler from before.
sighandler_t handle(int signal, sighandler_t handler, int flags, bool mask_itself) {
  struct sigaction wanted {};
  struct sigaction old {};
  wanted.sa_handler = handler;
  wanted.sa_flags = flags;
  if (mask_itself) sigaddset(&wanted.sa_mask, signal);
  return action(signal, &wanted, &old) == 0 ? old.sa_handler : SIG_ERR;
}

int change_one(int how, int signal) {
  sigset_t set{};
  sigaddset(&set, signal);
  return change_mask(NEXT(sigprocmask), how, &set, nullptr);
}

constinit std::atomic<bool> interrupts{false};  // siginterrupt(SIGSEGV, 1)

sighandler_t handle_bsd(int signal, sighandler_t handler) { return handle(signal, handler, interrupts ? 0 : SA_RESTART, true); }

sighandler_t handle_sysv(int signal, sighandler_t handler) {
  constexpr int once = static_cast<int>(SA_RESETHAND);
  return handle(signal, handler, once | SA_NODEFER | SA_INTERRUPT, false);
}

sighandler_t handle_or_hold(int signal, sighandler_t disposition) {
  sigset_t set{};
  sigset_t before{};
  sigaddset(&set, signal);
  struct sigaction old {};
  if (disposition == SIG_HOLD) {
    if (change_mask(NEXT(sigprocmask), SIG_BLOCK, &set, &before) != 0 || action(signal, nullptr, &old) != 0) return SIG_ERR;
  } else {
    old.sa_handler = handle(signal, disposition, 0, false);
    if (old.sa_handler == SIG_ERR || change_mask(NEXT(sigprocmask), SIG_UNBLOCK, &set, &before) != 0) return SIG_ERR;
  }
  return sigismember(&before, signal) == 1 ? SIG_HOLD : old.sa_handler;
}

/// A SIGSEGV that waited under the name of the stand-in.
int taken(int signal, siginfo_t* information) {
  if (signal != stand_in || !fault_signal::masks_are_translated()) return signal;
  if (information) {
    information->si_signo = SIGSEGV;
    information->si_errno = 0;
  }
  return SIGSEGV;
}

int old_style(signal_mask::Bits bits) { return static_cast<int>(static_cast<unsigned>(bits)); }

int change_old_style(int how, int mask) {
  sigset_t wanted = signal_mask::set_of(static_cast<unsigned>(mask));
  sigset_t old{};
  return change_mask(NEXT(sigprocmask), how, &wanted, &old) == 0 ? old_style(signal_mask::load(old)) : -1;
}

/// Until the kernel has changed over, either stack may be needed, so everything between them is taken for one. In this order: who
/// makes a block or releases a receive afterwards sees it, what was released before is completed here.
int change_stack(const stack_t& wanted, stack_t& before) {
  NEXT(sigaltstack)(nullptr, &before);
  const ByteRange old = ByteRange::of(before.ss_sp, before.ss_size);
  const ByteRange stack = ByteRange::of(wanted.ss_sp, (wanted.ss_flags & SS_DISABLE) != 0 ? 0 : wanted.ss_size);
  const ByteRange both{std::min(old.begin, stack.begin), std::max(old.end, stack.end)};
  alternate_stacks::note(old.empty() ? stack : stack.empty() ? old : both);
  settle_for_good(stack);
  const int result = NEXT(sigaltstack)(&wanted, nullptr);
  alternate_stacks::note(result == 0 ? stack : old);
  return result;
}

}  // namespace

void prepare_signals() { fault_signal::use({NEXT(sigaction), NEXT(pthread_sigmask)}); }

}  // namespace sluice

extern "C" {

// --- stacks -------------------------------------------------------------------------------------------------------------

SLUICE_EXPORTED int sigaltstack(const stack_t* wanted, stack_t* old) noexcept {
  // The kernel gets copies: it does not wait for pages under guard.
  stack_t before{};
  const stack_t copy = wanted ? *wanted : stack_t{};
  const int result = wanted ? sluice::change_stack(copy, before) : NEXT(sigaltstack)(nullptr, &before);
  if (result == 0 && old) *old = before;
  return result;
}

// --- actions ------------------------------------------------------------------------------------------------------------

SLUICE_EXPORTED int sigaction(int signal, const struct sigaction* wanted, struct sigaction* old) noexcept {
  return sluice::action(signal, wanted, old);
}
asm(".globl __sigaction; .set __sigaction, sigaction");

SLUICE_EXPORTED sighandler_t signal(int signal, sighandler_t handler) noexcept {
  return sluice::is_virtual(signal) ? sluice::handle_bsd(signal, handler) : NEXT(signal)(signal, handler);
}
sighandler_t ssignal(int, sighandler_t) noexcept SLUICE_ALIAS_OF(signal);
sighandler_t bsd_signal(int, sighandler_t) noexcept SLUICE_ALIAS_OF(signal);

SLUICE_EXPORTED sighandler_t sysv_signal(int signal, sighandler_t handler) noexcept {
  return sluice::is_virtual(signal) ? sluice::handle_sysv(signal, handler) : NEXT(sysv_signal)(signal, handler);
}
sighandler_t __sysv_signal(int, sighandler_t) noexcept SLUICE_ALIAS_OF(sysv_signal);

SLUICE_EXPORTED sighandler_t sigset(int signal, sighandler_t disposition) noexcept {
  return sluice::is_virtual(signal) ? sluice::handle_or_hold(signal, disposition) : NEXT(sigset)(signal, disposition);
}

SLUICE_EXPORTED int sigignore(int signal) noexcept {
  if (!sluice::is_virtual(signal)) return NEXT(sigignore)(signal);
  return sluice::handle(signal, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

SLUICE_EXPORTED int siginterrupt(int signal, int interrupt) noexcept {
  if (!sluice::is_virtual(signal)) return NEXT(siginterrupt)(signal, interrupt);
  struct sigaction action {};
  if (sluice::action(signal, nullptr, &action) != 0) return -1;
  sluice::interrupts = interrupt != 0;
  action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
  return sluice::action(signal, &action, nullptr);
}

// --- masks --------------------------------------------------------------------------------------------------------------

SLUICE_EXPORTED int sigprocmask(int how, const sigset_t* wanted, sigset_t* old) noexcept {
  return sluice::change_mask(NEXT(sigprocmask), how, wanted, old);
}

SLUICE_EXPORTED int pthread_sigmask(int how, const sigset_t* wanted, sigset_t* old) noexcept {
  return sluice::change_mask(NEXT(pthread_sigmask), how, wanted, old);
}

SLUICE_EXPORTED int pthread_attr_setsigmask_np(pthread_attr_t* attributes, const sigset_t* mask) {
  const sluice::KernelMask translated(mask);
  return NEXT(pthread_attr_setsigmask_np)(attributes, translated.get());
}

SLUICE_EXPORTED int pthread_attr_getsigmask_np(const pthread_attr_t* attributes, sigset_t* mask) {
  const int result = NEXT(pthread_attr_getsigmask_np)(attributes, mask);
  if (result == 0) sluice::translate_back(mask);
  return result;
}

SLUICE_EXPORTED int sighold(int signal) noexcept {
  return sluice::is_virtual(signal) ? sluice::change_one(SIG_BLOCK, signal) : NEXT(sighold)(signal);
}

SLUICE_EXPORTED int sigrelse(int signal) noexcept {
  return sluice::is_virtual(signal) ? sluice::change_one(SIG_UNBLOCK, signal) : NEXT(sigrelse)(signal);
}

SLUICE_EXPORTED int sigblock(int mask) noexcept { return sluice::change_old_style(SIG_BLOCK, mask); }
SLUICE_EXPORTED int sigsetmask(int mask) noexcept { return sluice::change_old_style(SIG_SETMASK, mask); }
SLUICE_EXPORTED int siggetmask() noexcept { return sluice::change_old_style(SIG_BLOCK, 0); }

// --- what is pending ----------------------------------------------------------------------------------------------------

SLUICE_EXPORTED int sigpending(sigset_t* pending) noexcept {
  sigset_t found{};
  const int result = NEXT(sigpending)(&found);
  if (result == 0) sluice::signal_mask::store(*pending, sluice::signal_mask::load(found));
  if (result == 0) sluice::translate_back(pending);
  return result;
}

SLUICE_EXPORTED int sigsuspend(const sigset_t* mask) {
  const sluice::KernelMask translated(mask);
  return NEXT(sigsuspend)(translated.get());
}

SLUICE_EXPORTED int sigwait(const sigset_t* awaited, int* signal) {
  const sluice::KernelMask translated(awaited);
  const int result = NEXT(sigwait)(translated.get(), signal);
  if (result == 0) *signal = sluice::taken(*signal, nullptr);
  return result;
}

SLUICE_EXPORTED int sigtimedwait(const sigset_t* awaited, siginfo_t* information, const timespec* limit) {
  if (!sluice::fault_signal::masks_are_translated()) return NEXT(sigtimedwait)(awaited, information, limit);
  const sluice::KernelMask translated(awaited);
  siginfo_t found{};
  const timespec limit_here = limit ? *limit : timespec{};
  const int signal = sluice::taken(NEXT(sigtimedwait)(translated.get(), &found, limit ? &limit_here : nullptr), &found);
  if (signal > 0 && information) *information = found;
  return signal;
}

SLUICE_EXPORTED int sigwaitinfo(const sigset_t* awaited, siginfo_t* information) {
  return sigtimedwait(awaited, information, nullptr);
}

SLUICE_EXPORTED int signalfd(int file, const sigset_t* mask, int flags) noexcept {
  const sluice::KernelMask translated(mask);
  return NEXT(signalfd)(file, translated.get(), flags);
}

}  // extern "C"
