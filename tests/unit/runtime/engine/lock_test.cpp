#include "runtime/engine/lock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace sluice {
namespace {

TEST(EngineLock, lets_one_thread_in_at_a_time) {
  EngineLock lock;
  long counter = 0;
  std::vector<std::thread> team;
  for (int t = 0; t < 4; ++t) {
    team.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        const std::lock_guard hold(lock);
        ++counter;
      }
    });
  }
  for (auto& thread : team) thread.join();
  EXPECT_EQ(counter, 80'000);
}

/// The calling thread holds the lock, and gives way until another one has been inside.
void let_another_thread_in(EngineLock& lock) {
  bool entered = false;
  std::thread other([&] {
    const std::lock_guard hold(lock);
    entered = true;
  });
  while (!entered) {
    if (lock.contended()) lock.give_way();
  }
  lock.unlock();
  other.join();
  EXPECT_FALSE(lock.contended());
}

TEST(EngineLock, a_holder_that_gives_way_lets_a_waiting_thread_in) {
  EngineLock lock;
  lock.lock();
  let_another_thread_in(lock);
}

TEST(EngineLock, is_at_rest_until_it_is_taken_again) {
  EngineLock lock({.undisturbed = 4, .of_use = 4});
  lock.prefer_this_thread();
  const std::atomic<bool> stop{false};
  for (int round = 0; round < 10; ++round) {  // by the word at first, and then by favour
    lock.lock();
    EXPECT_FALSE(lock.is_at_rest());
    lock.leave_at_rest();
    lock.unlock();
    EXPECT_TRUE(lock.is_at_rest());
    ASSERT_TRUE(lock.lock_unless(stop));
    EXPECT_FALSE(lock.is_at_rest());
    lock.unlock();
    EXPECT_FALSE(lock.is_at_rest());
  }
}

TEST(EngineLock, is_not_waited_for_by_who_is_told_not_to) {
  EngineLock lock;
  std::atomic<bool> stop{false};
  ASSERT_TRUE(lock.lock_unless(stop));
  bool entered = true;
  std::thread other([&] { entered = lock.lock_unless(stop); });
  while (!lock.contended()) {
  }
  stop = true;
  other.join();
  EXPECT_FALSE(entered);
  EXPECT_FALSE(lock.contended());
  lock.unlock();
  EXPECT_TRUE(lock.lock_unless(stop)) << "it is free";
  lock.unlock();
}

TEST(EngineLock, is_got_without_being_told_to_stop_when_its_holder_leaves) {
  EngineLock lock;
  const std::atomic<bool> stop{false};
  lock.lock();
  std::thread other([&] {
    EXPECT_TRUE(lock.lock_unless(stop));
    lock.unlock();
  });
  while (!lock.contended()) {
  }
  lock.unlock();
  other.join();
}

// --- the favour -----------------------------------------------------------------------------------------------------------

bool is_favoured(EngineLock& lock) {
  const std::lock_guard hold(lock);
  return EngineLock::held_by_favour();
}

/// Until the calling thread is favoured, or so often that it should have been.
bool becomes_favoured(EngineLock& lock, int max_times) {
  for (int i = 0; i < max_times; ++i) {
    if (is_favoured(lock)) return true;
  }
  return false;
}

void enter_elsewhere(EngineLock& lock) {
  std::thread([&] { const std::lock_guard hold(lock); }).join();
}

constexpr int undisturbed = FavourTerms{}.undisturbed + 1;

TEST(EngineLockFavour, belongs_to_the_preferred_thread_when_it_has_been_undisturbed_for_long_enough) {
  EngineLock lock;
  lock.prefer_this_thread();
  for (int i = 0; i < undisturbed - 1; ++i) ASSERT_FALSE(is_favoured(lock)) << i;
  EXPECT_TRUE(is_favoured(lock));
}

TEST(EngineLockFavour, is_given_to_no_thread_that_is_not_preferred) {
  EngineLock lock;
  EXPECT_FALSE(becomes_favoured(lock, 2 * undisturbed));
  lock.prefer_this_thread();
  bool favoured = true;
  std::thread([&] { favoured = becomes_favoured(lock, 2 * undisturbed); }).join();
  EXPECT_FALSE(favoured);
}

TEST(EngineLockFavour, is_lost_to_another_thread_and_takes_twice_as_long_to_come_back_when_it_was_of_little_use) {
  EngineLock lock;
  lock.prefer_this_thread();
  ASSERT_TRUE(becomes_favoured(lock, undisturbed));
  enter_elsewhere(lock);
  EXPECT_FALSE(becomes_favoured(lock, undisturbed));
  EXPECT_TRUE(becomes_favoured(lock, undisturbed));
}

TEST(EngineLockFavour, comes_back_as_soon_as_at_first_when_it_was_of_use) {
  EngineLock lock;
  lock.prefer_this_thread();
  ASSERT_TRUE(becomes_favoured(lock, undisturbed));
  for (int i = 0; i < static_cast<int>(FavourTerms{}.of_use); ++i) ASSERT_TRUE(is_favoured(lock));
  enter_elsewhere(lock);
  EXPECT_TRUE(becomes_favoured(lock, undisturbed));
}

TEST(EngineLockFavour, a_favoured_holder_that_gives_way_lets_a_waiting_thread_in) {
  EngineLock lock;
  lock.prefer_this_thread();
  ASSERT_TRUE(becomes_favoured(lock, undisturbed));
  lock.lock();
  ASSERT_TRUE(EngineLock::held_by_favour());
  let_another_thread_in(lock);
}

TEST(EngineLockFavour, of_a_holder_is_not_waited_for_by_who_is_told_not_to_and_others_still_wait) {
  EngineLock lock;
  lock.prefer_this_thread();
  ASSERT_TRUE(becomes_favoured(lock, undisturbed));
  lock.lock();
  ASSERT_TRUE(EngineLock::held_by_favour());
  const std::atomic<bool> stop{true};
  std::thread([&] { EXPECT_FALSE(lock.lock_unless(stop)); }).join();
  std::atomic<bool> entered{false};
  std::thread other([&] {
    const std::lock_guard hold(lock);
    entered = true;
  });
  while (!lock.contended()) {
  }
  EXPECT_FALSE(entered);
  lock.unlock();
  other.join();
  EXPECT_TRUE(entered);
}

/// Visitors take the favour away at any point of the favoured thread's steps. While a visitor is inside, nobody else may be: not
/// even one whose announcement has not left its processor, as it waits behind stores into lines that others read.
TEST(EngineLockFavour, lets_one_thread_in_at_a_time) {
  EngineLock lock(FavourTerms{.undisturbed = 2, .of_use = 0});
  lock.prefer_this_thread();
  constexpr int visits = 20'000;
  long entries = 0;  // belongs to the lock
  long cut_short = 0;
  std::atomic<int> visiting{2};
  struct alignas(64) Line {
    std::atomic<long> word{0};
  };
  std::array<Line, 8> distant;
  const auto read_distant = [&] {
    for (auto& line : distant) static_cast<void>(line.word.load(std::memory_order_relaxed));
  };
  std::vector<std::thread> visitors;
  for (int t = 0; t < 2; ++t) {
    visitors.emplace_back([&] {
      for (int i = 0; i < visits; ++i) {
        for (int pause = 17 * i % 101; pause > 0; --pause) read_distant();
        const std::lock_guard hold(lock);
        const long before = entries;
        for (int round = 0; round < 10; ++round) read_distant();
        cut_short += entries != before ? 1 : 0;
        entries = before + 1;
      }
      --visiting;
    });
  }
  long own = 0;
  long by_favour = 0;
  while (visiting != 0) {
    const std::lock_guard hold(lock);
    const long before = entries;
    for (auto& line : distant) line.word.store(own, std::memory_order_relaxed);
    entries = before + 1;
    ++own;
    by_favour += EngineLock::held_by_favour() ? 1 : 0;
  }
  for (auto& visitor : visitors) visitor.join();
  EXPECT_EQ(cut_short, 0);
  EXPECT_EQ(entries, own + 2 * visits);
  EXPECT_GT(by_favour, 0);
}

}  // namespace
}  // namespace sluice
