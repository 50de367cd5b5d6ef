// Who uses the session, and who ends it. Here it is a word that both may touch at one time only.
#include "interpose/session/session_use.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "interpose/session/engaged.hpp"

namespace sluice {

constinit std::atomic<bool> detail::engaged{false};

namespace {

class SessionUses : public testing::Test {
 protected:
  SessionUses() { detail::engaged = true; }
};

TEST_F(SessionUses, there_is_a_session_until_it_ends) {
  EXPECT_TRUE(SessionUse());
  { const SessionEnd end; }
  EXPECT_FALSE(SessionUse());
}

TEST_F(SessionUses, the_end_waits_for_those_of_other_threads) {
  constexpr int threads = 4;
  std::atomic<bool> there{true};
  std::atomic<int> too_late{0};
  std::vector<std::thread> users;
  for (int i = 0; i < threads; ++i) {
    users.emplace_back([&] {
      while (const SessionUse use{}) {
        if (!there) ++too_late;
      }
    });
  }
  {
    const SessionEnd end;
    there = false;
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(too_late, 0);
}

TEST_F(SessionUses, a_use_of_the_thread_that_ends_it_was_left_by_a_jump) {
  EXPECT_TRUE(SessionUse::begin());
  { const SessionEnd end; }  // does not wait for ever
  SessionUse::end();
  EXPECT_FALSE(SessionUse());
}

TEST_F(SessionUses, who_comes_too_late_can_wait_for_the_end) {
  std::atomic<bool> ended{false};
  std::thread late;
  {
    const SessionEnd end;
    SessionUse::wait_until_ended();  // it is this thread's own
    late = std::thread([&] {
      SessionUse::wait_until_ended();
      EXPECT_TRUE(ended);
    });
    ended = true;
  }
  late.join();
}

TEST_F(SessionUses, the_child_of_a_fork_waits_for_no_end) {
  const SessionEnd end;
  SessionUse::forget_ending();
  std::thread(SessionUse::wait_until_ended).join();
}

}  // namespace
}  // namespace sluice
