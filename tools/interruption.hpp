// Ctrl-C during a command that has a half-written file: the work is unwound as for any error, which removes the file, and then
// the command ends by the signal, as its shell expects.
//
// Threading: one thread.
#pragma once

namespace sluice {

/// While one lives, SIGINT, SIGTERM and SIGHUP are asked for by `check` only, the first of them: a second one ends the command at
/// once. Those that were ignored (nohup) remain so. One at a time.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

/// No std::exception, so that what tells errors passes it on.
struct Interruption {
  int signal;

  /// Ends the command by the signal.
  [[noreturn]] void take_effect() const;
};

/// Throws Interruption when a signal has come. For loops that take long.
void check_for_interruption();

}  // namespace sluice
