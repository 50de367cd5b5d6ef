// Signal masks on their way to the kernel and back (runtime/process/signal_mask.hpp), for every call of the C library that takes
// one.
#pragma once

#include <csignal>

#include "runtime/guard/signal.hpp"
#include "runtime/process/signal_mask.hpp"

namespace sluice {

/// A mask of the program's in an argument, as the kernel is to have it.
class KernelMask {
 public:
  explicit KernelMask(const sigset_t* program) : mask_(program) {
    if (!program || !fault_signal::masks_are_translated()) return;
    translated_ = signal_mask::set_of(signal_mask::for_kernel(signal_mask::load(*program)));
    mask_ = &translated_;
  }
  KernelMask(const KernelMask&) = delete;
  KernelMask& operator=(const KernelMask&) = delete;

  [[nodiscard]] const sigset_t* get() const { return mask_; }

 private:
  const sigset_t* mask_;
  sigset_t translated_;
};

/// What the kernel has written into a mask of the program's.
inline void translate_back(sigset_t* mask) {
  if (mask && fault_signal::masks_are_translated()) {
    signal_mask::store(*mask, signal_mask::for_program(signal_mask::load(*mask)));
  }
}

/// For the start of sessions: what runtime/guard/signal.hpp calls in place of the wrappers.
void prepare_signals();

}  // namespace sluice
