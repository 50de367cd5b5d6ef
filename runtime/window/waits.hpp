// Threads of this process that wait for words of a window.
//
// A thread that waits is inside the engine and progresses like any call. When it sleeps, whoever polls in its place, or is about
// to sleep itself, asks here whether what one of them waits for is there.
//
// Belongs to the engine lock.
#pragma once

#include "runtime/base/intrusive_list.hpp"

namespace sluice {

/// What one thread waits for. `is_there` reads shared words and nothing else.
class WindowWait {
 public:
  [[nodiscard]] virtual bool is_there() const = 0;

  ListLink<WindowWait> waiting_link;  // WindowWaits

 protected:
  ~WindowWait() = default;
};

class WindowWaits {
 public:
  void begin(WindowWait& wait) { waiting_.push_back(&wait); }
  void end(WindowWait& wait) { waiting_.remove(&wait); }
  [[nodiscard]] bool any_is_there() const {
    for (const WindowWait* wait = waiting_.first(); wait; wait = Waiting::next(wait)) {
      if (wait->is_there()) return true;
    }
    return false;
  }

 private:
  using Waiting = IntrusiveList<WindowWait, &WindowWait::waiting_link>;
  Waiting waiting_;
};

}  // namespace sluice
