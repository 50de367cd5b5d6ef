// Signals of the application that must wait until a thread is out of the engine.
//
// A signal handler that runs on top of a thread in the engine, and touches a page under guard, would wait for ever: what it waits
// for may be the lock that this thread holds or the copy that it was making. So while anything is under guard, signals are
// blocked from the outermost entry into the engine to its exit; a thread that waits lets them in now and then, and while it
// sleeps, when it holds nothing. With nothing under guard this costs nothing.
//
// Threading: all of it is about the calling thread.
#pragma once

namespace sluice::held_signals {

/// Idempotent.
void hold();
void let_go();

/// Lets in what is pending, and whatever comes until it is destroyed. The caller holds no lock and copies nothing.
class Window {
 public:
  Window();
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

 private:
  bool held_;
};

}  // namespace sluice::held_signals
