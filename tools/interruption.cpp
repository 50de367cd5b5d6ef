#include "tools/interruption.hpp"

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>

#include "tools/exit_status.hpp"

namespace sluice {

namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, signals.size()> actions_before;
volatile std::sig_atomic_t pending = 0;

void note(int signal) { pending = signal; }

}  // namespace

Interruptible::Interruptible() {
  pending = 0;
  // No SA_RESTART: who waits for a pipe is to look up.
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], nullptr, &actions_before[i]);
    if (actions_before[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &action, nullptr);
  }
}

Interruptible::~Interruptible() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &actions_before[i], nullptr);
}

void Interruption::take_effect() const {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::_Exit(exit_failure);
}

void check_for_interruption() {
  if (pending != 0) throw Interruption{pending};
}

}  // namespace sluice
