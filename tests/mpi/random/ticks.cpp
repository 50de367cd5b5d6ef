#include "ticks.hpp"

#include <signal.h>
#include <sys/time.h>

#include <atomic>

namespace random_program {

namespace {

std::atomic<unsigned long> ticks{0};
constexpr suseconds_t period_us = 2000;

void set_timer(suseconds_t microseconds) {
  const itimerval timer{{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

Ticks::Ticks() {
  struct sigaction action {};
  action.sa_handler = [](int) { ticks.fetch_add(1, std::memory_order_relaxed); };
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  set_timer(period_us);
}

/// The handler stays: a signal may still be on its way.
Ticks::~Ticks() { set_timer(0); }

}  // namespace random_program
