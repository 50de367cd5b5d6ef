// Who is woken, and that no wake-up is lost: what Progress asks of the transport, in order.

#include "runtime/progress.hpp"

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

using Asked = std::vector<std::string>;

class ProgressTest : public testing::Test {
 protected:
  /// The application is in a call of the host's: something to be woken for.
  void be_in_host_call() {
    Lock lock(impl_.mutex);
    progress_.prepare_for_host_call(lock);
  }
  void sleep(std::chrono::microseconds limit) {
    Lock lock(impl_.mutex);
    const Inside here(progress_, lock);
    doorbell_.news();
    progress_.sleep(lock, limit);
  }

  const std::string none_ = RecordingDoorbell::set_to(WakeMask::none);
  const std::string room_ = RecordingDoorbell::set_to(WakeMask::room);
  const std::string sleeper_ = RecordingDoorbell::set_to(WakeMask::sleeper);
  RecordingDoorbell doorbell_;
  Engine::Impl impl_{one_of_two(Peer{0}, doorbell_, {})};
  Progress& progress_ = impl_.progress;
};

TEST_F(ProgressTest, a_call_with_nothing_outstanding_tells_nobody_anything) {
  doorbell_.news();
  {
    Lock lock(impl_.mutex);
    const Inside here(progress_, lock);
    EXPECT_EQ(progress_.inside(), 1u);
  }
  EXPECT_EQ(progress_.inside(), 0u);
  EXPECT_EQ(doorbell_.news(), Asked{});
}

TEST_F(ProgressTest, who_stops_polling_sets_the_wake_mask_and_then_looks_once_more) {
  be_in_host_call();
  EXPECT_EQ(doorbell_.news(), (Asked{room_, "look"}));
  EXPECT_EQ(doorbell_.wakes(), 0);
}

TEST_F(ProgressTest, what_came_meanwhile_is_taken_with_no_wake_mask_set) {
  doorbell_.pending_looks = 1;
  be_in_host_call();
  EXPECT_EQ(doorbell_.news(), (Asked{room_, "look", none_, "poll", room_, "look"}));
  EXPECT_EQ(doorbell_.wakes(), 0) << "its sender wakes for what comes now";
}

TEST_F(ProgressTest, where_messages_keep_coming_the_helper_thread_goes_on) {
  doorbell_.pending_looks = 8;
  be_in_host_call();
  EXPECT_EQ(doorbell_.wakes(), 1);
}

TEST_F(ProgressTest, who_enters_polls_so_nobody_is_to_be_woken) {
  be_in_host_call();
  EXPECT_TRUE(detail::host_call_prepared);
  doorbell_.news();
  Lock lock(impl_.mutex);
  const Inside here(progress_, lock);
  EXPECT_EQ(doorbell_.news(), Asked{none_});
  EXPECT_FALSE(detail::host_call_prepared);
}

TEST_F(ProgressTest, a_callback_of_the_hosts_leaves_the_process_in_the_call) {
  const InHostCall host_call;
  be_in_host_call();
  {
    Lock lock(impl_.mutex);
    const Inside here(progress_, lock);
    doorbell_.news();
  }
  EXPECT_TRUE(detail::host_call_prepared);
  EXPECT_EQ(doorbell_.news(), (Asked{room_, "look"}));
}

TEST_F(ProgressTest, who_sleeps_sets_the_wake_mask_and_then_looks_before_and_in_between) {
  sleep(std::chrono::microseconds(50));
  EXPECT_EQ(doorbell_.news(), (Asked{sleeper_, "look", "tell", "sleep", none_}));
  sleep(std::chrono::microseconds(5000));
  EXPECT_EQ(doorbell_.news(), (Asked{sleeper_, "look", "tell", "sleep", "look", "sleep", none_}));
}

TEST_F(ProgressTest, nobody_sleeps_over_a_message_that_is_there) {
  doorbell_.pending_looks = 1;
  sleep(std::chrono::microseconds(5000));
  EXPECT_EQ(doorbell_.news(), (Asked{sleeper_, "look", none_}));
}

TEST_F(ProgressTest, a_message_that_comes_late_into_the_ring_is_seen_at_the_second_look) {
  doorbell_.meanwhile = [this] { doorbell_.pending_looks = 1; };
  sleep(std::chrono::microseconds(5000));
  EXPECT_EQ(doorbell_.news(), (Asked{sleeper_, "look", "tell", "sleep", "look", none_}));
}

TEST_F(ProgressTest, the_last_one_awake_leaves_what_comes_to_those_that_sleep) {
  Lock lock(impl_.mutex);
  progress_.enter();
  progress_.enter();
  impl_.sleepers.count = 1;
  doorbell_.news();
  progress_.leave(lock);
  EXPECT_EQ(doorbell_.news(), (Asked{sleeper_, "look"}));

  progress_.enter();
  doorbell_.news();
  doorbell_.pending_looks = 1;
  progress_.leave(lock);
  EXPECT_EQ(doorbell_.news(), (Asked{sleeper_, "look", "poke"}));
  impl_.sleepers.count = 0;
  progress_.leave(lock);
}

TEST_F(ProgressTest, the_helper_thread_polls_and_sets_the_wake_mask_again) {
  be_in_host_call();
  doorbell_.news();
  doorbell_.wake_helper();
  Asked news;
  const auto has = [&](const std::string& what) { return std::find(news.begin(), news.end(), what) != news.end(); };
  while (!has("look")) {
    for (std::string& what : doorbell_.news()) news.push_back(std::move(what));
    std::this_thread::yield();
  }
  EXPECT_EQ(news, (Asked{"poll", room_, "look"}));
}

TEST_F(ProgressTest, what_was_awaited_last_is_remembered) {
  Request receive;
  receive.kind = Request::Kind::receive;
  Request send;
  send.kind = Request::Kind::send;
  progress_.note_awaited(std::vector<Request*>{&receive, nullptr, &receive});
  EXPECT_TRUE(progress_.application().awaits_many);
  progress_.note_awaited(std::vector<Request*>{&send});
  EXPECT_TRUE(progress_.application().awaits_many) << "a wait for sends says nothing of receives";
  progress_.note_awaited(std::vector<Request*>{&receive, &send});
  EXPECT_FALSE(progress_.application().awaits_many);
}

}  // namespace
}  // namespace sluice
