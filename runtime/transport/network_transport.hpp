// A transport between nodes, as one that sleeps for several transports needs it: what to wait for in the helper thread, and what
// to do with it. tcp and verbs implement it.
#pragma once

#include "runtime/transport/transport.hpp"

namespace sluice {

class NetworkTransport : public Transport {
 public:
  /// From now on connections may end without their peers being taken for vanished. [any thread]
  virtual void leave() = 0;

  /// What sleep_helper waits for.
  [[nodiscard]] virtual int helper_descriptor() const = 0;
  /// How long it may wait for that, in milliseconds; -1: for ever.
  [[nodiscard]] int helper_wait_ms() const;
  /// Takes note of what the helper thread was woken for, without waiting. True when there was anything.
  virtual bool take_helper_events() = 0;

  void sleep_helper() final;

 protected:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  /// When (now_ns) the helper thread is to attend though nothing wakes it. [any thread]
  void attend_at(std::uint64_t deadline) { deadline_.store(deadline, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> deadline_{never};
};

}  // namespace sluice
