#include "runtime/guard/held_signals.hpp"

#include <csignal>

#include "runtime/guard/blocked_signals.hpp"
#include "runtime/guard/signal.hpp"
#include "runtime/process/signal_mask.hpp"

namespace sluice::held_signals {
namespace {

/// In the static TLS block: the fault handler must not allocate it.
struct Held {
  bool held = false;
  signal_mask::Bits before = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Held own;

}  // namespace

void hold() {
  if (own.held || are_already_blocked()) return;
  own.before = signal_mask::load(fault_signal::block_for_engine());
  own.held = true;
}

void let_go() {
  if (!own.held) return;
  own.held = false;
  fault_signal::restore_mask(signal_mask::set_of(own.before));
}

Window::Window() : held_(own.held) { let_go(); }

Window::~Window() {
  if (held_) hold();
}

}  // namespace sluice::held_signals
