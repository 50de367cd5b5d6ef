// The process's SIGSEGV handler: gives the guard every fault first and the rest to whoever had the signal before.
//
// While the handler runs every other signal is blocked, because a signal handler of the application on top of it could
// touch a guarded page while this thread is inside the engine. `let_signals_in` opens a window for them between two looks.
#pragma once

#include <csignal>
#include <cstdint>

namespace sluice::fault_signal {

struct Fault {
  std::uintptr_t address = 0;
  const sigset_t* mask = nullptr;  // of the interrupted thread
};

/// Answers a fault: true when the instruction is to be tried again, false when it is none of Sluice's.
class Answerer {
 public:
  virtual bool answer(const Fault& fault) = 0;

 protected:
  ~Answerer() = default;
};

/// One answerer at a time.
void install(Answerer& answerer);
/// Puts the previous handler back, if the signal still is ours, and returns when no thread is inside the answerer any more.
void remove();
[[nodiscard]] bool installed();

/// Delivers what is pending for this thread, by the mask that the interrupted code had. The caller holds no lock.
void let_signals_in(const Fault& fault);

}  // namespace sluice::fault_signal
