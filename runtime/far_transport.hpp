// A transport between nodes, as one that sleeps for several transports needs it: what to wait for in the helper thread, and what
// to do with it. tcp and verbs implement it.
#pragma once

#include "runtime/transport.hpp"

namespace sluice {

class FarTransport : public Transport {
 public:
  /// From now on connections may end without their peers being taken for vanished. [any thread]
  virtual void leave() = 0;

  /// What sleep_helper waits for.
  [[nodiscard]] virtual int helper_descriptor() const = 0;
  /// How long it may wait for that, in milliseconds; -1: for ever.
  [[nodiscard]] virtual int helper_patience() const = 0;
  /// Takes note of what the helper thread was woken for, without waiting. True when there was anything.
  virtual bool take_helper_events() = 0;
};

}  // namespace sluice
