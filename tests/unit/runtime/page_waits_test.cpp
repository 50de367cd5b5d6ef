#include "runtime/page_waits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "runtime/engine_impl.hpp"
#include "tests/unit/support/recording_doorbell.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

class PageWaitsTest : public testing::Test {
 protected:
  RecordingDoorbell doorbell_;
  Engine::Impl impl_{one_of_two(Peer{0}, doorbell_, {})};
  PageWaits& waits_ = impl_.page_waits;

  std::size_t times(const std::vector<std::string>& news, const std::string& what) {
    return static_cast<std::size_t>(std::count(news.begin(), news.end(), what));
  }
};

TEST_F(PageWaitsTest, each_round_polls_and_peers_are_told_now_and_then) {
  doorbell_.news();
  for (unsigned attempt = 0; attempt < 128; ++attempt) waits_.wait_a_little(attempt);
  const std::vector<std::string> news = doorbell_.news();
  EXPECT_EQ(times(news, "poll"), 128u);
  EXPECT_EQ(times(news, "tell"), 2u);
  EXPECT_EQ(times(news, "sleep"), 0u);
  EXPECT_FALSE(waits_.any());
}

TEST_F(PageWaitsTest, sleeps_when_that_lasts) {
  doorbell_.news();
  waits_.wait_a_little(20'000);
  EXPECT_GE(times(doorbell_.news(), "sleep"), 1u);
}

/// The lock is held until fork is over; whoever waited for it could hold a lock that fork takes.
TEST_F(PageWaitsTest, nobody_waits_for_the_lock_of_a_thread_that_forks) {
  impl_.mutex.lock();
  waits_.begin_fork();
  doorbell_.news();
  std::thread other([this] { waits_.wait_a_little(0); });
  other.join();
  EXPECT_EQ(times(doorbell_.news(), "poll"), 0u);
  waits_.end_fork();
  impl_.mutex.unlock();
  waits_.wait_a_little(0);
  EXPECT_EQ(times(doorbell_.news(), "poll"), 1u);
}

}  // namespace
}  // namespace sluice
