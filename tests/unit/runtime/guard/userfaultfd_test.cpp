// What only the userfaultfd mechanism does: system calls wait, pages that the kernel dropped are mapped, holes are filled, and no
// mapping is split.
#include "runtime/guard/userfaultfd.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include "runtime/guard/page_guard.hpp"
#include "tests/unit/support/guarded_block.hpp"

namespace sluice {
namespace {

class PageGuardUserfaultTest : public testing::Test {
 protected:
  void SetUp() override {
    if (touches_look_like_races) GTEST_SKIP() << "the kernel's order is not seen";
    ASSERT_EQ(guard_.engine(), GuardEngine::userfaultfd);
  }

  /// A touch of the release's pages brings the data.
  void deliver_on_touch(const Block& block, Guarded* release, unsigned char value) {
    waiter_.step = [&block, this, release, value](unsigned) {
      block.deliver(block.range(), value);
      guard_.open(*release, block.range().size());
    };
  }
  /// As memory pressure does, but at once. The bare call: there is no page of a block that a program could drop like that.
  static void drop(ByteRange bytes) { syscall(SYS_madvise, bytes.begin, bytes.size(), MADV_DONTNEED); }

  AliasArena arena_{10000};
  Waiter waiter_;
  PageGuard guard_{waiter_, &arena_, GuardEngine::userfaultfd};
};

TEST_F(PageGuardUserfaultTest, a_system_call_that_reads_a_closed_page_waits_for_its_data) {
  const Block block(arena_, 2);
  Guarded* release = guard_.protect(block.range(), 0);
  deliver_on_touch(block, release, 42);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  EXPECT_EQ(write(ends[1], const_cast<unsigned char*>(block.start()), 100), 100);
  unsigned char received = 0;
  EXPECT_EQ(::read(ends[0], &received, 1), 1);
  EXPECT_EQ(received, 42);
  EXPECT_EQ(guard_.statistics().faults, 1u);
  guard_.finish(release);
  for (const int end : ends) close(end);
}

TEST_F(PageGuardUserfaultTest, a_system_call_that_writes_to_a_closed_page_waits_and_is_kept) {
  const Block block(arena_, 2);
  Guarded* release = guard_.protect(block.range(), 0);
  deliver_on_touch(block, release, 42);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_EQ(::read(ends[0], const_cast<unsigned char*>(block.start()), 1), 1);
  EXPECT_EQ(block.start()[0], 'x');
  EXPECT_EQ(block.start()[1], 42);
  guard_.finish(release);
  for (const int end : ends) close(end);
}

TEST_F(PageGuardUserfaultTest, pages_that_the_kernel_dropped_are_mapped_when_touched) {
  const Block block(arena_, 4);
  block.page(2) = 7;
  drop(block.range());
  ASSERT_FALSE(present(block.pages(2, 3).begin));
  EXPECT_EQ(block.page(2), 7);
  EXPECT_EQ(waiter_.steps, 0u);
  EXPECT_EQ(guard_.statistics().faults, 0u);
}

TEST_F(PageGuardUserfaultTest, the_thread_that_progresses_may_touch_a_dropped_page) {
  const Block block(arena_, 2);
  const Block other(arena_, 2);
  Guarded* release = guard_.protect(block.range(), 0);
  other.page(0) = 9;
  drop(other.range());
  waiter_.step = [&](unsigned) {
    block.deliver(block.range(), other.page(0));
    guard_.open(*release, block.range().size());
  };
  EXPECT_EQ(block.page(0), 9);
  guard_.finish(release);
}

TEST_F(PageGuardUserfaultTest, a_discarded_page_comes_under_guard_all_the_same) {
  const Block block(arena_, 4);
  drop(block.range());
  arena_.discard(block.range());
  Guarded* release = guard_.protect(block.range(), 0);
  ASSERT_NE(release, nullptr);
  deliver_on_touch(block, release, 42);
  EXPECT_EQ(block.page(1), 42);
  guard_.finish(release);
}

TEST_F(PageGuardUserfaultTest, pages_stay_closed_while_their_neighbours_become_one_large_page) {
  constexpr std::size_t pages = 1024;
  const Block block(arena_, pages);
  Guarded* held = guard_.protect(block.pages(100, 300), 0);
  for (int i = 0; i < 4; ++i) arena_.note_release(block.range());
  EXPECT_FALSE(accessible(block.page(100)));
  EXPECT_FALSE(accessible(block.page(299)));
  EXPECT_TRUE(accessible(block.page(99)));
  EXPECT_TRUE(accessible(block.page(300)));
  guard_.finish(held);
  EXPECT_TRUE(accessible(block.page(200)));
}

std::size_t mappings_of(ByteRange bytes) {
  const ProcessMaps maps;
  std::size_t count = 0;
  ProcessMapping mapping;
  for (std::uintptr_t at = bytes.begin; at < bytes.end && maps.find(at, mapping); at = mapping.bytes.end) ++count;
  return count;
}

TEST_F(PageGuardUserfaultTest, releases_split_no_mapping) {
  const Block block(arena_, 64);
  const std::size_t before = mappings_of(block.range());
  Guarded* one = guard_.protect(block.pages(10, 20), 0);
  Guarded* another = guard_.protect(block.pages(30, 33), 0);
  EXPECT_EQ(mappings_of(block.range()), before);
  guard_.finish(one);
  guard_.finish(another);
  EXPECT_EQ(mappings_of(block.range()), before);
}

TEST_F(PageGuardUserfaultTest, a_block_that_mremap_carried_away_and_back_is_watched_again) {
  const Block block(arena_, 4);
  const ByteRange bytes = block.pages(1, 4);  // the first page is a mapping of its own
  void* away = mmap(nullptr, bytes.size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  constexpr int move = MREMAP_MAYMOVE | MREMAP_FIXED;
  ASSERT_EQ(syscall(SYS_mremap, bytes.begin, bytes.size(), bytes.size(), move, away), reinterpret_cast<long>(away));
  ASSERT_EQ(syscall(SYS_mremap, away, bytes.size(), bytes.size(), move, bytes.begin), static_cast<long>(bytes.begin));
  Guarded* release = guard_.protect(bytes, 0);
  ASSERT_NE(release, nullptr);
  deliver_on_touch(block, release, 42);
  EXPECT_EQ(block.page(2), 42);
  guard_.finish(release);
}

TEST_F(PageGuardUserfaultTest, a_signal_handler_runs_while_its_thread_waits) {
  static std::atomic<bool> handler_ran{false};
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = [](int) { handler_ran = true; };
  sigaction(SIGUSR1, &action, &old);
  const Block block(arena_, 2);
  Guarded* release = guard_.protect(block.range(), 0);
  const pthread_t toucher = pthread_self();
  waiter_.step = [&](unsigned attempt) {
    if (attempt == 0) pthread_kill(toucher, SIGUSR1);
    if (!handler_ran) return;
    block.deliver(block.range(), 42);
    guard_.open(*release, block.range().size());
  };
  EXPECT_EQ(block.page(0), 42);
  EXPECT_TRUE(handler_ran);
  guard_.finish(release);
  sigaction(SIGUSR1, &old, nullptr);
}

TEST_F(PageGuardUserfaultTest, several_threads_wait_for_different_pages) {
  const Block block(arena_, 8);
  Guarded* release = guard_.protect(block.range(), 0);
  std::atomic<std::size_t> complete{0};
  waiter_.step = [&](unsigned attempt) {
    if (attempt < 10 || complete == 8) return;
    block.deliver(block.pages(complete, complete + 1), 42);
    ++complete;
    guard_.open(*release, complete * page_bytes);
  };
  std::array<std::thread, 8> threads;
  std::atomic<unsigned> right{0};
  for (std::size_t i = 0; i < threads.size(); ++i) threads[i] = std::thread([&, i] { right += block.page(7 - i) == 42; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8u);
  guard_.finish(release);
}

TEST(PageGuardUserfaultEndTest, a_page_that_is_dropped_after_the_guard_has_gone_is_the_kernels_to_map) {
  AliasArena arena(10000);
  Waiter waiter;
  std::unique_ptr<Block> block;
  {
    PageGuard guard(waiter, &arena, GuardEngine::userfaultfd);
    block = std::make_unique<Block>(arena, 2);
    block->page(1) = 5;
  }
  syscall(SYS_madvise, block->range().begin, block->range().size(), MADV_DONTNEED);
  EXPECT_EQ(block->page(1), 5);
}

TEST_F(PageGuardUserfaultTest, a_child_of_fork_waits_for_nobody) {
  const Block block(arena_, 2);
  block.page(1) = 5;
  drop(block.range());
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    guard_.abandon();
    _exit(block.page(1) == 5 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(PageGuardUserModeTest, without_privilege_touches_wait_and_system_calls_fail) {
  if (touches_look_like_races) GTEST_SKIP() << "the kernel's order is not seen";
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    if (setuid(65534) != 0) _exit(2);
    AliasArena arena(10000);
    Waiter waiter;
    PageGuard guard(waiter, &arena, GuardEngine::userfaultfd);
    const Block block(arena, 2);
    Guarded* release = guard.protect(block.range(), 0);
    std::array<int, 2> ends{};
    if (guard.engine() != GuardEngine::userfaultfd || !release || pipe(ends.data()) != 0) _exit(3);
    if (write(ends[1], const_cast<unsigned char*>(block.start()), 100) != -1 || errno != EFAULT) _exit(4);
    waiter.step = [&](unsigned) {
      block.deliver(block.range(), 42);
      guard.open(*release, block.range().size());
    };
    _exit(block.page(1) == 42 ? 0 : 5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace sluice
