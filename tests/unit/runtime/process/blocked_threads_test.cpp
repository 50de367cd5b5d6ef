#include "runtime/process/blocked_threads.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <future>
#include <thread>

namespace sluice {
namespace {

/// A thread with SIGUSR1 blocked, or not, until it is destroyed.
class Bystander {
 public:
  explicit Bystander(bool blocks) {
    std::promise<void> ready;
    thread_ = std::thread([this, blocks, &ready] {
      sigset_t set;
      sigemptyset(&set);
      sigaddset(&set, SIGUSR1);
      pthread_sigmask(blocks ? SIG_BLOCK : SIG_UNBLOCK, &set, nullptr);
      ready.set_value();
      end_.get_future().wait();
    });
    ready.get_future().wait();
  }
  ~Bystander() {
    end_.set_value();
    thread_.join();
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

 private:
  std::promise<void> end_;
  std::thread thread_;
};

#ifdef __SANITIZE_THREAD__
#define SKIP_WITH_A_THREAD_OF_THE_SANITIZER GTEST_SKIP() << "the sanitizer has a thread of its own that blocks every signal"
#else
#define SKIP_WITH_A_THREAD_OF_THE_SANITIZER
#endif

TEST(BlockedThreadsTest, finds_another_thread_that_blocks_the_signal) {
  SKIP_WITH_A_THREAD_OF_THE_SANITIZER;
  const Bystander bystander(true);
  EXPECT_TRUE(other_threads_block(SIGUSR1));
  EXPECT_FALSE(other_threads_block(SIGUSR2));
}

TEST(BlockedThreadsTest, the_caller_itself_does_not_count) {
  SKIP_WITH_A_THREAD_OF_THE_SANITIZER;
  const Bystander bystander(false);
  sigset_t set;
  sigset_t before;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  EXPECT_FALSE(other_threads_block(SIGUSR1));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace sluice
