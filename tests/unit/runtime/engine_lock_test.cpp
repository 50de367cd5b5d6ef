#include "runtime/engine_lock.hpp"

#include <gtest/gtest.h>

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

TEST(EngineLock, a_holder_that_gives_way_lets_a_waiting_thread_in) {
  EngineLock lock;
  bool entered = false;
  lock.lock();
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

}  // namespace
}  // namespace sluice
