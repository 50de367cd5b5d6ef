// The ladder of one wait: spin, yield, tell peers, let the host and signals in, sleep.
//
// It spins while that is cheaper than a wake-up (over sockets with a yield now and then), yields when there are more processes
// than processors, and then sleeps (Progress::sleep). The caller is inside, holds the engine lock, and makes a round of the
// engine's work between two steps.
#pragma once

#include <cstdint>

#include "runtime/process/cancellation.hpp"
#include "runtime/progress.hpp"

namespace sluice {

class Waiter {
 public:
  enum class Who : std::uint8_t { application, fault_handler };

  Waiter(Progress& progress, Who who) : progress_(progress), who_(who) {
    if (progress.job().uses_sockets) uncancelled_.begin();  // a look at a socket is a point of cancellation
  }
  /// After a round in which nothing that the caller waits for happened. The lock is held before and after. Does not sleep once
  /// the wait has lasted `until_ns`, nor past that.
  void step(Lock& lock, std::uint64_t until_ns = ~std::uint64_t{0});
  [[nodiscard]] std::uint64_t waited_ns() const { return waited_ns_; }
  /// For waits in calls of MPI, after a round: a thread that has been cancelled ends here. The lock is held before and after.
  void let_cancellation_act(Lock& lock);

 private:
  [[nodiscard]] bool host_is_busy() const;
  void poll_host(Lock& lock, std::uint64_t now);
  void begin(std::uint64_t now);
  void let_signals_in(Lock& lock, std::uint64_t now);
  void yield_now_and_then(Lock& lock, std::uint64_t now);
  void tell_of_waiting();

  Progress& progress_;
  Who who_;
  cancellation::Deferral uncancelled_;
  std::uint64_t requests_to_cancel_ = cancellation::requests();
  std::uint64_t started_ = 0;
  std::uint64_t waited_ns_ = 0;
  std::uint64_t last_host_poll_ = 0;
  bool may_call_host_ = true;  // as far as is known
  std::uint64_t last_window_ = 0;
  std::uint64_t last_yield_ = 0;
  std::uint64_t last_telling_ = 0;
  std::uint64_t seen_completions_ = 0;
  std::uint64_t last_completion_ = 0;
  unsigned steps_ = 0;
};

}  // namespace sluice
