// What a call of the application's holds while it is in the engine, and how it waits there (engine_wait.cpp).
#pragma once

#include <cstdint>

#include "runtime/engine/state.hpp"
#include "runtime/process/cancellation.hpp"

namespace sluice {

/// Marks the calling thread as inside the engine, so that nobody needs to be woken for what it will find by polling.
class Inside {
 public:
  Inside(Engine::State& state, Lock& lock) : state_(state), lock_(lock) {
    ++detail::engine_depth;
    state_.enter();
  }
  /// Also when a thread that lets signals in, or ends, is unwound: it has given the lock up.
  ~Inside() {
    if (!lock_.owns_lock()) lock_.lock();
    state_.leave(lock_);
    detail::leave_engine();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Engine::State& state_;
  Lock& lock_;
};

/// The calling thread, which is inside, counts in another of the engine's numbers.
class Counted {
 public:
  Counted(std::size_t& number, Lock& lock) : number_(number), lock_(lock) { ++number_; }
  ~Counted() {
    if (!lock_.owns_lock()) lock_.lock();
    --number_;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::size_t& number_;
  Lock& lock_;
};

/// The ladder of one wait: spin, yield, sleep; and the host's progress in between.
class Waiter {
 public:
  enum class Who : std::uint8_t { application, fault_handler };

  Waiter(Engine::State& state, Who who) : state_(state), who_(who) {
    if (state.job.uses_sockets) uncancelled_.begin();  // a look at a socket is a point of cancellation
  }
  /// After a round in which nothing that the caller waits for happened. The lock is held before and after. Does not sleep once
  /// the wait has lasted `until_ns`, nor past that.
  void step(Lock& lock, std::uint64_t until_ns = ~std::uint64_t{0});
  [[nodiscard]] std::uint64_t waited_ns() const { return waited_ns_; }
  /// For waits in calls of MPI, after a round: a thread that has been cancelled ends here. The lock is held before and after.
  void let_cancellation_act(Lock& lock);

 private:
  friend class Engine::Pause;
  void poll_host(Lock& lock, std::uint64_t now);
  void begin(std::uint64_t now);
  void let_signals_in(Lock& lock, std::uint64_t now);
  void give_turns(Lock& lock, std::uint64_t now);
  void tell_of_waiting();

  Engine::State& state_;
  Who who_;
  cancellation::Deferral uncancelled_;
  std::uint64_t requests_to_cancel_ = cancellation::requests();
  std::uint64_t started_ = 0;
  std::uint64_t waited_ns_ = 0;
  std::uint64_t last_host_poll_ = 0;
  std::uint64_t last_window_ = 0;
  std::uint64_t last_turn_ = 0;
  std::uint64_t last_telling_ = 0;
  std::uint64_t seen_completions_ = 0;
  std::uint64_t last_completion_ = 0;
  unsigned steps_ = 0;
};

}  // namespace sluice
