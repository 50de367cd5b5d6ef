#include "runtime/process/cancellation.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <csignal>
#include <utility>

#include "runtime/process/signal_mask.hpp"

namespace sluice::cancellation {
namespace {

/// In the static TLS block: the fault handler must not allocate it.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool asynchronous = false;

/// The bare call: the C library keeps its own signals out of the masks that it is given.
signal_mask::Bits change_mask(int how, signal_mask::Bits bits) {
  signal_mask::Bits before = 0;
  syscall(SYS_rt_sigprocmask, how, &bits, &before, sizeof bits);
  return before;
}

}  // namespace

std::atomic<std::uint64_t> detail::requests{0};

void note_type(bool now_asynchronous) { asynchronous = now_asynchronous; }

void Deferral::begin() {
  if (std::exchange(begun_, true)) return;
  constexpr signal_mask::Bits signal = signal_mask::bit(signal_mask::cancellation);
  if (asynchronous) {
    blocked_ = (change_mask(SIG_BLOCK, signal) & signal) == 0;
  } else {
    int before = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    was_enabled_ = before == PTHREAD_CANCEL_ENABLE;
  }
}

void Deferral::end() {
  begun_ = false;
  if (std::exchange(was_enabled_, false)) pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  if (std::exchange(blocked_, false)) change_mask(SIG_UNBLOCK, signal_mask::bit(signal_mask::cancellation));
}

void Deferral::let_act() {
  end();
  pthread_testcancel();
  begin();
}

void prepare_unwinding() {
  _Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_END_OF_STACK; }, nullptr);
}

}  // namespace sluice::cancellation
