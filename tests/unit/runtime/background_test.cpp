// What runs besides the application's threads, and for how long.

#include "runtime/background.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <memory>

#include "runtime/alias/arena.hpp"
#include "runtime/engine_impl.hpp"
#include "tests/unit/support/recording_doorbell.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

bool has_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(Background, nothing_runs_in_a_job_of_one_process) {
  EngineParts parts;
  parts.job_size = 1;
  const Engine::Impl alone(parts);
  EXPECT_FALSE(alone.helper_thread.runs());
  EXPECT_EQ(alone.memory_users.guard(), nullptr);
}

TEST(Background, the_helper_thread_lives_as_long_as_the_engine) {
  RecordingDoorbell doorbell;
  {
    const Engine::Impl one(one_of_two(Peer{0}, doorbell, {}));
    EXPECT_TRUE(one.helper_thread.runs());
    EXPECT_EQ(one.memory_users.guard(), nullptr) << "without blocks no page can be closed";
    EXPECT_EQ(doorbell.wakes(), 0);
  }
  EXPECT_EQ(doorbell.wakes(), 1) << "woken to end";
}

TEST(Background, there_is_a_guard_where_there_are_blocks) {
  RecordingDoorbell doorbell;
  AliasArena arena(10'000);
  const Engine::Impl one(one_of_two(Peer{0}, doorbell, {}, &arena));
  ASSERT_TRUE(arena.usable());
  EXPECT_NE(one.memory_users.guard(), nullptr);
}

TEST(Background, the_calling_thread_keeps_its_signals) {
  RecordingDoorbell doorbell;
  const Engine::Impl one(one_of_two(Peer{0}, doorbell, {}));
  EXPECT_FALSE(has_blocked(SIGUSR1));
}

}  // namespace
}  // namespace sluice
