#include "runtime/waiter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/engine_impl.hpp"
#include "tests/unit/support/recording_doorbell.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

int host_polls = 0;
bool host_has_work = false;
bool host_may_be_called = true;

class WaiterTest : public testing::Test {
 protected:
  WaiterTest() {
    host_polls = 0;
    host_has_work = false;
    host_may_be_called = true;
  }
  static EngineParts parts(RecordingDoorbell& doorbell) {
    EngineParts made = one_of_two(Peer{0}, doorbell, {});
    made.host.progress = [] {
      ++host_polls;
      return host_may_be_called;
    };
    made.host.outstanding = [] { return host_has_work; };
    return made;
  }
  /// As a call that waits for so long.
  std::vector<std::string> wait(Waiter::Who who, std::uint64_t for_ns, std::uint64_t until_ns = ~std::uint64_t{0}) {
    Lock lock(impl_.mutex);
    const Inside here(impl_.progress, lock);
    Waiter waiter(impl_.progress, who);
    doorbell_.news();
    while (waiter.waited_ns() < for_ns) waiter.step(lock, until_ns);
    EXPECT_TRUE(lock.owns_lock());
    return doorbell_.news();
  }
  static bool has(const std::vector<std::string>& news, const std::string& what) {
    return std::find(news.begin(), news.end(), what) != news.end();
  }

  RecordingDoorbell doorbell_;
  Engine::Impl impl_{parts(doorbell_)};
};

TEST_F(WaiterTest, tells_peers_that_it_waits) { EXPECT_TRUE(has(wait(Waiter::Who::application, 100'000), "tell")); }

TEST_F(WaiterTest, sleeps_when_the_wait_is_long) { EXPECT_TRUE(has(wait(Waiter::Who::application, 3'000'000), "sleep")); }

TEST_F(WaiterTest, does_not_sleep_past_the_time_at_which_the_caller_has_something_to_do) {
  EXPECT_FALSE(has(wait(Waiter::Who::application, 3'000'000, 1'000'000), "sleep"));
}

/// A peer's lock in a window of the host's takes many turns of its target.
TEST_F(WaiterTest, does_not_sleep_while_peers_may_wait_in_the_host) {
  host_has_work = true;
  EXPECT_FALSE(has(wait(Waiter::Who::application, 5'000'000), "sleep"));
  EXPECT_GE(host_polls, 20);
  EXPECT_TRUE(has(wait(Waiter::Who::fault_handler, 3'000'000), "sleep"));
}

TEST_F(WaiterTest, sleeps_where_its_thread_may_not_call_the_host) {
  host_has_work = true;
  host_may_be_called = false;
  EXPECT_TRUE(has(wait(Waiter::Who::application, 5'000'000), "sleep"));
}

TEST_F(WaiterTest, the_host_progresses_in_calls_of_the_application_only) {
  host_has_work = true;
  wait(Waiter::Who::fault_handler, 200'000);
  EXPECT_EQ(host_polls, 0);
  wait(Waiter::Who::application, 200'000);
  EXPECT_GE(host_polls, 1);
}

}  // namespace
}  // namespace sluice
