#include "runtime/guard/held_signals.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "runtime/guard/blocked_signals.hpp"

namespace sluice::held_signals {
namespace {

volatile std::sig_atomic_t handled = 0;

class HeldSignalsTest : public testing::Test {
 protected:
  HeldSignalsTest() {
    handled = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { handled = handled + 1; };
    sigaction(SIGUSR1, &action, &old_);
  }
  ~HeldSignalsTest() override {
    let_go();
    sigaction(SIGUSR1, &old_, nullptr);
  }

 private:
  struct sigaction old_ {};
};

TEST_F(HeldSignalsTest, signals_wait_until_they_are_let_go) {
  hold();
  raise(SIGUSR1);
  EXPECT_EQ(handled, 0);
  let_go();
  EXPECT_EQ(handled, 1);
}

TEST_F(HeldSignalsTest, holding_twice_is_holding_once) {
  hold();
  hold();
  raise(SIGUSR1);
  let_go();
  EXPECT_EQ(handled, 1);
}

TEST_F(HeldSignalsTest, a_window_lets_them_in_and_holds_them_again) {
  hold();
  raise(SIGUSR1);
  { const Window window; }
  EXPECT_EQ(handled, 1);
  raise(SIGUSR1);
  EXPECT_EQ(handled, 1);
  let_go();
  EXPECT_EQ(handled, 2);
}

TEST_F(HeldSignalsTest, a_window_without_held_signals_holds_none) {
  { const Window window; }
  raise(SIGUSR1);
  EXPECT_EQ(handled, 1);
}

TEST_F(HeldSignalsTest, where_they_are_blocked_already_the_mask_is_left_alone) {
  const AlreadyBlocked blocked;
  hold();
  raise(SIGUSR1);
  EXPECT_EQ(handled, 1);
}

TEST_F(HeldSignalsTest, what_a_thread_does_to_itself_still_comes_through) {
  hold();
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) EXPECT_EQ(sigismember(&mask, signal), 0) << signal;
}

}  // namespace
}  // namespace sluice::held_signals
