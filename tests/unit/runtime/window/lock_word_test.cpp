#include "runtime/window/lock_word.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sluice {
namespace {

using enum LockWord::Use;
using enum LockWord::Turn;

struct LockWords : testing::Test {
  std::atomic<std::uint64_t> word{0};
  LockWord lock{word};
};

TEST_F(LockWords, readers_hold_it_together) {
  EXPECT_TRUE(lock.try_lock(shared));
  EXPECT_TRUE(lock.try_lock(shared));
  EXPECT_FALSE(lock.try_lock(exclusive));
  lock.unlock(shared);
  EXPECT_FALSE(lock.try_lock(exclusive));
  lock.unlock(shared);
  EXPECT_TRUE(lock.try_lock(exclusive));
}

TEST_F(LockWords, a_writer_holds_it_alone) {
  EXPECT_TRUE(lock.try_lock(exclusive));
  EXPECT_FALSE(lock.try_lock(exclusive));
  EXPECT_FALSE(lock.try_lock(shared));
  EXPECT_FALSE(lock.try_lock(shared, any));
  lock.unlock(exclusive);
  EXPECT_TRUE(lock.try_lock(shared));
}

TEST_F(LockWords, it_is_all_zeros_when_nobody_is_there) {
  for (const auto use : {shared, exclusive}) {
    lock.begin_wait(use);
    EXPECT_TRUE(lock.try_lock(use, any));
    lock.end_wait(use);
    lock.unlock(use);
    EXPECT_EQ(word.load(), 0u);
  }
}

TEST_F(LockWords, readers_let_a_waiting_writer_go_first_unless_they_need_not) {
  EXPECT_TRUE(lock.try_lock(shared));
  lock.begin_wait(exclusive);
  EXPECT_FALSE(lock.is_free(shared, writers_first));
  EXPECT_FALSE(lock.try_lock(shared));
  EXPECT_TRUE(lock.is_free(shared, any));
  EXPECT_TRUE(lock.try_lock(shared, any));
  lock.end_wait(exclusive);
  EXPECT_TRUE(lock.try_lock(shared));
}

TEST_F(LockWords, who_gives_it_up_learns_whether_somebody_may_go_on) {
  EXPECT_TRUE(lock.try_lock(exclusive));
  EXPECT_FALSE(lock.unlock(exclusive));
  EXPECT_TRUE(lock.try_lock(shared));
  EXPECT_TRUE(lock.try_lock(shared));
  lock.begin_wait(exclusive);
  EXPECT_FALSE(lock.unlock(shared));  // the other one holds it still
  EXPECT_TRUE(lock.unlock(shared));
  lock.begin_wait(shared);
  EXPECT_TRUE(lock.try_lock(exclusive));
  lock.end_wait(exclusive);
  EXPECT_TRUE(lock.unlock(exclusive));
}

TEST_F(LockWords, threads_exclude_each_other) {
  constexpr int each = 20000;
  int written = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (int i = 0; i < each; ++i) {
        const auto use = number == 0 ? shared : exclusive;
        while (!lock.try_lock(use, any)) std::this_thread::yield();
        if (use == exclusive) ++written;
        lock.unlock(use);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(written, 3 * each);
  EXPECT_EQ(word.load(), 0u);
}

}  // namespace
}  // namespace sluice
