// Faults that are the application's own, and its signal handlers.
#include "runtime/guard/signal.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <functional>
#include <thread>

#include "runtime/process/cancellation.hpp"
#include "runtime/process/signal_mask.hpp"
#include "tests/unit/support/guarded_block.hpp"

namespace sluice {
namespace {

class PageGuardSignalTest : public testing::Test {
 protected:
  AliasArena arena_{10000};
  Waiter waiter_;
};

volatile unsigned char* const nowhere = reinterpret_cast<volatile unsigned char*>(std::uintptr_t{page_bytes});

/// Runs `body` in a child and returns how that ended.
int status_of_child(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGSEGV, SIG_DFL);  // not a sanitizer's report
    alarm(20);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

bool died_of_segv(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV; }

TEST(ForeignFaultTest, a_wild_access_still_kills) {
  EXPECT_TRUE(died_of_segv(status_of_child([] {
    Waiter waiter;
    PageGuard guard(waiter);
    *nowhere = 1;
  })));
}

TEST(ForeignFaultTest, a_call_into_data_still_kills) {
  EXPECT_TRUE(died_of_segv(status_of_child([] {
    Waiter waiter;
    PageGuard guard(waiter);
    static unsigned char data[16];
    reinterpret_cast<void (*)()>(reinterpret_cast<std::uintptr_t>(&data))();
  })));
}

TEST(ForeignFaultTest, a_signal_sent_by_another_process_still_kills) {
  EXPECT_TRUE(died_of_segv(status_of_child([] {
    Waiter waiter;
    PageGuard guard(waiter);
    kill(getpid(), SIGSEGV);
  })));
}

TEST(ForeignFaultTest, a_wild_access_kills_while_other_threads_release_and_open) {
  EXPECT_TRUE(died_of_segv(status_of_child([] {
    AliasArena arena(10000);
    Waiter waiter;
    PageGuard guard(waiter, &arena);
    const Block block(arena, 4);
    std::thread busy([&] {
      for (;;) guard.finish(guard.protect(block.range(), 0));
    });
    *nowhere = 1;
  })));
}

sigjmp_buf escape;
std::atomic<void*> handled_address{nullptr};
std::atomic<int> handled{0};

void handle_and_escape(int, siginfo_t* information, void*) {
  handled_address = information->si_addr;
  ++handled;
  siglongjmp(escape, 1);
}

class PreviousHandler {
 public:
  explicit PreviousHandler(int flags) {
    struct sigaction action {};
    action.sa_sigaction = handle_and_escape;
    action.sa_flags = flags;
    sigaction(SIGSEGV, &action, &old_);
    handled = 0;
  }
  ~PreviousHandler() { sigaction(SIGSEGV, &old_, nullptr); }
  PreviousHandler(const PreviousHandler&) = delete;
  PreviousHandler& operator=(const PreviousHandler&) = delete;

 private:
  struct sigaction old_ {};
};

TEST_F(PageGuardSignalTest, a_handler_installed_before_gets_foreign_faults_and_may_leave_by_longjmp) {
  const PreviousHandler previous(SA_SIGINFO);
  PageGuard guard(waiter_, &arena_);
  while (handled < 3) {
    if (sigsetjmp(escape, 1) == 0) *nowhere = 1;
  }
  EXPECT_EQ(handled, 3);
  EXPECT_EQ(handled_address, const_cast<unsigned char*>(nowhere));
  EXPECT_TRUE(guard.handler_installed());
  // Faults of guarded pages go on working afterwards, and are not shown to it.
  const Block block(arena_, 1);
  Guarded* release = guard.protect(block.range(), 0);
  waiter_.step = [&](unsigned) { guard.open(*release, page_bytes); };
  read(block.page(0));
  EXPECT_EQ(handled, 3);
  guard.finish(release);
}

TEST_F(PageGuardSignalTest, the_previous_handler_is_back_when_the_guard_is_gone) {
  const PreviousHandler previous(SA_SIGINFO);
  { const PageGuard guard(waiter_, &arena_); }
  if (sigsetjmp(escape, 1) == 0) *nowhere = 1;
  EXPECT_EQ(handled, 1);
}

TEST_F(PageGuardSignalTest, a_handler_on_the_alternate_stack_keeps_it) {
  alignas(16) static std::array<std::byte, 64 * 1024> alternate;
  const stack_t stack{alternate.data(), 0, alternate.size()};
  stack_t old_stack{};
  sigaltstack(&stack, &old_stack);
  const PreviousHandler previous(SA_SIGINFO | SA_ONSTACK);
  {
    PageGuard guard(waiter_, &arena_);
    if (sigsetjmp(escape, 1) == 0) *nowhere = 1;
  }
  EXPECT_EQ(handled, 1);
  sigaltstack(&old_stack, nullptr);
}

TEST_F(PageGuardSignalTest, a_handler_that_took_over_the_signal_is_noticed) {
  PageGuard guard(waiter_, &arena_);
  EXPECT_TRUE(guard.handler_installed());
  {
    const PreviousHandler later(SA_SIGINFO);
    EXPECT_FALSE(guard.handler_installed());
  }
  EXPECT_TRUE(guard.handler_installed());
}

// --- the program's action is virtual ----------------------------------------------------------------------------------------

class VirtualActionTest : public PageGuardSignalTest {
 protected:
  VirtualActionTest() { handled = 0; }
  ~VirtualActionTest() override {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    fault_signal::program_action(SIGSEGV, &usual, nullptr);
  }

  static void ask_for(int flags) {
    struct sigaction wanted {};
    wanted.sa_sigaction = handle_and_escape;
    wanted.sa_flags = flags;
    EXPECT_EQ(fault_signal::program_action(SIGSEGV, &wanted, nullptr), 0);
  }
  static struct sigaction told() {
    struct sigaction action {};
    EXPECT_EQ(fault_signal::program_action(SIGSEGV, nullptr, &action), 0);
    return action;
  }

  PageGuard guard_{waiter_, &arena_};
};

TEST_F(VirtualActionTest, a_handler_that_the_program_asks_for_later_gets_its_faults_and_the_guard_stays) {
  ask_for(SA_SIGINFO);
  EXPECT_EQ(told().sa_sigaction, handle_and_escape);
  EXPECT_TRUE(guard_.handler_installed());
  if (sigsetjmp(escape, 1) == 0) *nowhere = 1;
  EXPECT_EQ(handled, 1);
  const Block block(arena_, 1);
  Guarded* release = guard_.protect(block.range(), 0);
  waiter_.step = [&](unsigned) { guard_.open(*release, page_bytes); };
  read(block.page(0));
  EXPECT_EQ(handled, 1);
  guard_.finish(release);
}

TEST_F(VirtualActionTest, a_handler_for_one_signal_is_the_default_afterwards) {
  ask_for(SA_SIGINFO | static_cast<int>(SA_RESETHAND));
  if (sigsetjmp(escape, 1) == 0) *nowhere = 1;
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(told().sa_handler, SIG_DFL);
}

TEST_F(VirtualActionTest, a_thread_that_has_blocked_the_signal_may_touch_guarded_pages_and_dies_of_others) {
  const sigset_t blocked = signal_mask::set_of(signal_mask::for_kernel(signal_mask::bit(SIGSEGV)));
  sigset_t before{};
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const Block block(arena_, 1);
  Guarded* release = guard_.protect(block.range(), 0);
  waiter_.step = [&](unsigned) { guard_.open(*release, page_bytes); };
  read(block.page(0));
  guard_.finish(release);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(died_of_segv(status_of_child([] {
    Waiter waiter;
    PageGuard guard(waiter);
    ask_for(SA_SIGINFO);
    const sigset_t all = signal_mask::set_of(signal_mask::for_kernel(signal_mask::everything));
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    *nowhere = 1;
  })));
}

TEST_F(VirtualActionTest, a_signal_that_is_sent_waits_until_it_is_let_in) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer delivers signals when it likes";
#endif
  ask_for(SA_SIGINFO);
  const sigset_t blocked = signal_mask::set_of(signal_mask::for_kernel(signal_mask::bit(SIGSEGV)));
  sigset_t before{};
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  raise(SIGSEGV);
  EXPECT_EQ(handled, 0);
  if (sigsetjmp(escape, 0) == 0) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(handled, 1);
}

TEST_F(VirtualActionTest, answering_on_a_small_alternate_stack_leaves_its_neighbourhood_alone) {
  constexpr std::size_t size = 16 * 1024;
  alignas(16) static std::array<std::byte, 4 * size> area;
  area.fill(std::byte{0x5a});
  const stack_t stack{area.data() + 3 * size, 0, size};
  stack_t old_stack{};
  sigaltstack(&stack, &old_stack);
  ask_for(SA_SIGINFO | SA_ONSTACK);
  const Block block(arena_, 1);
  Guarded* release = guard_.protect(block.range(), 0);
  waiter_.step = [&](unsigned) {
    volatile unsigned char engine[2 * size];
    for (std::size_t i = 0; i < sizeof engine; ++i) engine[i] = 1;
    guard_.open(*release, page_bytes);
  };
  read(block.page(0));
  guard_.finish(release);
  sigaltstack(&old_stack, nullptr);
  EXPECT_EQ(std::count(area.begin(), area.begin() + 3 * size, std::byte{0x5a}), static_cast<std::ptrdiff_t>(3 * size));
}

volatile unsigned char* touched_by_handler = nullptr;
std::atomic<bool> handler_entered{false};
std::atomic<int> seen_by_handler{-1};

TEST_F(PageGuardSignalTest, a_signal_handler_runs_and_may_touch_guarded_pages_while_its_thread_waits) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer runs signal handlers with every signal blocked";
#endif
  PageGuard guard(waiter_, &arena_);
  const Block block(arena_, 2);
  Guarded* release = guard.protect(block.range(), 0);
  touched_by_handler = &block.page(1);
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = [](int) {
    handler_entered = true;
    seen_by_handler = *touched_by_handler;
  };
  sigaction(SIGUSR1, &action, &old);
  waiter_.step = [&](unsigned) {
    if (waiter_.steps == 1) kill(getpid(), SIGUSR1);
    if (!handler_entered) return;
    // Only the wait inside the signal handler, on top of the first one, brings the data.
    block.deliver(block.range(), 42);
    guard.open(*release, block.range().size());
  };
  EXPECT_EQ(block.page(0), 42);
  EXPECT_EQ(seen_by_handler, 42);
  EXPECT_EQ(guard.statistics().faults, 2u);
  guard.finish(release);
  sigaction(SIGUSR1, &old, nullptr);
}

// --- ways out of a wait other than return ---------------------------------------------------------------------------------

class WaysOutTest : public PageGuardSignalTest {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer delivers signals when it likes";
#endif
  }

  /// Waits properly for its data, whatever happened before.
  void expect_delivery(PageGuard& guard, Guarded* release) {
    waiter_.step = [&](unsigned) {
      block_.deliver(block_.range(), 42);
      guard.open(*release, block_.range().size());
    };
    EXPECT_EQ(block_.page(0), 42);
    guard.finish(release);
  }

  const Block block_{arena_, 2};
};

TEST_F(WaysOutTest, a_signal_handler_may_leave_by_a_jump) {
  PageGuard guard(waiter_, &arena_);  // its end would wait for a thread that is counted as inside
  Guarded* release = guard.protect(block_.range(), 0);
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = [](int) { siglongjmp(escape, 1); };
  sigaction(SIGUSR1, &action, &old);
  waiter_.step = [&](unsigned) {
    if (waiter_.steps == 1) pthread_kill(pthread_self(), SIGUSR1);
  };
  if (sigsetjmp(escape, 1) == 0) {
    read(block_.page(0));
    ADD_FAILURE() << "the page was there";
  }
  expect_delivery(guard, release);
  sigaction(SIGUSR1, &old, nullptr);
}

TEST_F(WaysOutTest, a_thread_may_be_cancelled_asynchronously) {
  PageGuard guard(waiter_, &arena_);
  Guarded* release = guard.protect(block_.range(), 0);
  std::atomic<bool> waits{false};
  waiter_.step = [&](unsigned) { waits = true; };
  pthread_t thread{};
  const auto reads = [](void* argument) -> void* {
    int before = 0;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    cancellation::note_type(true);
    read(static_cast<const Block*>(argument)->page(0));
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, reads, const_cast<Block*>(&block_)), 0);
  while (!waits) std::this_thread::yield();
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  expect_delivery(guard, release);
}

}  // namespace
}  // namespace sluice
