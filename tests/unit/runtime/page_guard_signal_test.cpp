// Faults that are the application's own, and its signal handlers.
#include "runtime/page_guard_signal.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <functional>
#include <thread>

#include "guarded_block.hpp"

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

}  // namespace
}  // namespace sluice
